private import CommandLineTool

/// The program's function `main`, under the name that SwiftPM lets the linker take for it.
@_cdecl("beckon_main")
func enter(_ count: Int32, _ words: UnsafePointer<UnsafeMutablePointer<CChar>?>) -> Int32 {
    CommandLineTool.main(count, words)
}
