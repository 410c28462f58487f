private import CommandLineTool
private import Glibc

exit(CommandLineTool.main())
