import Glibc

/// The name of a machine, as a name service knows it.
public enum HostName {
    /// Whether a text may be the name of a machine: labels of letters, digits, `-` and `_` with dots between them. Text whose last label
    /// is a number, such as `192.168.1`, is none: it is meant to be an address.
    public static func isValid(_ text: String) -> Bool {
        var labels = text.split(separator: ".", omittingEmptySubsequences: false)
        // A dot at the end stands for the root.
        if labels.count > 1, labels.last?.isEmpty == true { labels.removeLast() }
        guard let last = labels.last, text.utf8.count <= 253, !last.utf8.allSatisfy({ (48...57).contains($0) }) else {
            return false
        }
        return labels.allSatisfy { label in
            (1...63).contains(label.utf8.count) && label.first != "-" && label.last != "-"
                && label.utf8.allSatisfy { byte in
                    switch byte {
                    case 48...57, 65...90, 97...122, 45, 95: true
                    default: false
                    }
                }
        }
    }

    /// The addresses of a machine by its name; empty if the name is not known. May wait long for a name server.
    public static func addresses(of name: String) -> [IPAddress] {
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(name, nil, &hints, &list) == 0 else { return [] }
        defer { freeaddrinfo(list) }
        var found: [IPAddress] = []
        var entry = list
        while let info = entry?.pointee {
            if let address = info.ai_addr, let number = IPAddress(address, length: info.ai_addrlen) {
                found.append(number)
            }
            entry = info.ai_next
        }
        return found
    }
}
