import Foundation

/// Certificates for servers on this machine, made by openssl: `ca.pem` and `other.pem` of two authorities; of the first one `good`,
/// `elsewhere` (for another name) and `expired`; and `self`, which signs itself. Each has a key, such as `good.key`.
public struct Certificates {
    /// Nil without openssl, which is reported.
    public init?(in folder: TestFolder) throws {
        guard FileManager.default.isExecutableFile(atPath: "/usr/bin/openssl") else {
            print("openssl is not installed: the test was skipped")
            return nil
        }
        let script = """
            set -e
            cd \(folder.path)
            printf '[ca]\\ndefault_ca=d\\n[d]\\ndatabase=index\\nserial=serial\\nnew_certs_dir=.\\ndefault_md=sha256\\npolicy=p\\n' > ca.conf
            printf '[p]\\ncommonName=supplied\\n' >> ca.conf
            : > index
            echo 01 > serial
            new() { name=$1; shift; openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj /CN=$name -keyout $name.key "$@"; }
            own() { new "$@" -x509 -days 2 -out $1.pem; }
            signed() {
                new $1 -out $1.csr
                printf 'subjectAltName=%s\\n' "$2" > $name.ext
                shift 2
                openssl ca -batch -config ca.conf -cert ca.pem -keyfile ca.key -in $name.csr -extfile $name.ext -out $name.pem -notext "$@"
            }
            own ca
            own other
            own self -addext subjectAltName=IP:127.0.0.1
            signed good IP:127.0.0.1,IP:::1,DNS:localhost -days 2
            signed elsewhere DNS:elsewhere.example -days 2
            signed expired IP:127.0.0.1 -startdate 20200101000000Z -enddate 20200102000000Z
            """
        let result = try Program.run(URL(fileURLWithPath: "/bin/sh"), ["-c", script])
        guard result.status == 0 else { throw Failure(description: result.error) }
    }

    private struct Failure: Error, CustomStringConvertible { let description: String }
}
