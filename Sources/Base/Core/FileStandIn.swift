/// What lies where a file should be after a download that went wrong.
public enum FileStandIn {
    /// Bytes from a file's start that tell.
    public static let telling = 1024

    /// What a file is, if it is a pointer of Git LFS or a web page in the place of a model, and what to do; nil for all else.
    public static func text(_ bytes: some Collection<UInt8>) -> String? {
        if bytes.starts(with: "version https://git-lfs".utf8) {
            return "a Git LFS pointer, not the file itself; fetch that with git lfs pull, or download it again"
        }
        let spaces: [UInt8] = [0x20, 0x09, 0x0A, 0x0D, 0xEF, 0xBB, 0xBF]
        let first = bytes.prefix(telling).drop { spaces.contains($0) }.prefix(16)
        let start = String(decoding: first, as: UTF8.self).lowercased()
        guard ["<!doctype html", "<html", "<head", "<!--"].contains(where: start.hasPrefix) else { return nil }
        return "a web page, not the file itself; download the file, on GitHub by its button Download raw file"
    }
}
