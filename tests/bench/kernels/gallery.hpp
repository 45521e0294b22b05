// Pictures of what the kernels do, as a function for programs that offer it as a command.
#pragma once

// argv[0] is the name in messages; one argument, FOLDER, or --help.  Writes FOLDER/index.html and its PNG
// files: phantoms, sinograms, reconstructions and error maps side by side.  0: written; 2: usage; 1: a file
// could not be written.
int gallery_main(int argc, char** argv);
