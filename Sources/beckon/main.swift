private import CommandLineTool
private import Glibc

exit(CommandLineTool.run(Array(CommandLine.arguments.dropFirst())))
