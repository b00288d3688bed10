// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import TidemarkCrypto
internal import TidemarkTLS

/// Encrypts once more when everything else has exited, as an event loop does that is still at work.
///
/// Ends with 0 if that succeeded.
@main
enum Program {
    static func main() throws {
        // Exit handlers run in the opposite order: this one after all that OpenSSL adds at its first use.
        atexit {
            guard (try? Program.encrypt()) != nil else { _exit(1) }
        }
        try encrypt()
    }

    private static func encrypt() throws {
        _ = SecureRandom.bytes(32)
        _ = SHA1.hash([1, 2, 3])
        _ = try CertificateAuthority(commonName: "Exit", now: 0)
        _ = try TLSContext()
    }
}
