// The benchmark of the kernels as a function, for programs that offer it as a command.
#pragma once

// Options --tomopy-lib PATH, --python PATH, --svg PATH, --seconds S, --quick, --help.  0: measured (goals
// missed are shown, not failed); 2: usage; 1: the SVG could not be written.
int bench_kernels_main(int argc, char** argv);
