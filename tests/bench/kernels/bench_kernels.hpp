// The benchmark of the kernels as a function, for programs that offer it as a command.
#pragma once

// argv[0] is the name in messages; --help tells the options.  0: measured (goals missed are shown, not
// failed); 2: usage; 1: the plot could not be written.
int bench_kernels_main(int argc, char** argv);
