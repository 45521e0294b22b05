// The report page's style sheet.
#pragma once

namespace miniapps::campaign {

inline constexpr auto page_style = R"css(
:root{--bg:#fcfcfb;--fg:#1d1f23;--muted:#667080;--rule:#e3e5e8;--card:#fff;--source:#c2571a;--processor:#1f6fb2;
--good:#1a7f4b;--goodbg:#e8f5ee;--bad:#b3261e;--badbg:#fcebe9}
@media(prefers-color-scheme:dark){:root{--bg:#15171a;--fg:#e6e8eb;--muted:#98a2b0;--rule:#2c3036;--card:#1b1e22;
--source:#f0935a;--processor:#6cb2ee;--good:#6fd39b;--goodbg:#16281f;--bad:#ff8f86;--badbg:#331c1a}}
*{box-sizing:border-box}
body{margin:0;background:var(--bg);color:var(--fg);font:15px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,
"Helvetica Neue",sans-serif;font-variant-numeric:tabular-nums}
main{max-width:1080px;margin:0 auto;padding:40px 24px 64px}
h1{font-size:28px;line-height:1.2;font-weight:650;letter-spacing:-.01em;margin:0}
h2{font-size:17px;font-weight:650;margin:0 0 10px}
header p{color:var(--muted);margin:6px 0 0}
section{margin-top:36px}
.verdict{margin:22px 0 0;padding:10px 14px;border-radius:8px;font-weight:550}
.good{color:var(--good);background:var(--goodbg)}
.bad{color:var(--bad);background:var(--badbg)}
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(200px,1fr));gap:14px;margin-top:22px}
.tile{background:var(--card);border:1px solid var(--rule);border-radius:10px;padding:14px 16px}
.tile span,.tile small{display:block;color:var(--muted);font-size:13px}
.tile b{display:block;font-size:26px;line-height:1.25;font-weight:620;letter-spacing:-.01em;margin:2px 0}
.charts,.columns{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,440px),1fr));gap:28px 32px}
figure{margin:0}
figcaption{font-weight:600;margin-bottom:6px}
svg{display:block;width:100%;height:auto;overflow:visible}
svg text{font-size:11.5px;fill:var(--muted)}
svg text.legend{fill:var(--fg)}
.end{text-anchor:end}.middle{text-anchor:middle}
.grid{stroke:var(--rule)}.axis{stroke:var(--muted)}
.line{fill:none;stroke-width:2;stroke-linejoin:round}
.source{stroke:var(--source)}.processor{stroke:var(--processor)}
.level{stroke-width:1.5;stroke-dasharray:5 4}
.bar{fill:var(--processor);opacity:.85}
.mark{stroke:var(--fg);stroke-dasharray:2 3}
.slices{display:grid;grid-template-columns:repeat(auto-fill,minmax(280px,1fr));gap:16px}
.slices img{display:block;width:100%;height:auto;border-radius:8px;background:#000}
.slices figcaption{font-weight:400;font-size:13px;color:var(--muted);margin:6px 0 0}
table{border-collapse:collapse;width:100%}
th,td{text-align:left;vertical-align:top;padding:6px 12px 6px 0;border-top:1px solid var(--rule)}
td{overflow-wrap:anywhere}
tr th[scope=row]{font-weight:400;color:var(--muted);white-space:nowrap;width:1%;padding-right:24px}
thead th{white-space:nowrap;color:var(--muted);font-weight:500;border-top:0}
.wide td,.wide thead th:not(:first-child){text-align:right}
@media print{body{background:#fff}section,figure{break-inside:avoid}}
)css";

}  // namespace miniapps::campaign
