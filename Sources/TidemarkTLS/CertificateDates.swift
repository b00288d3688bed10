// SPDX-License-Identifier: Apache-2.0

/// Until when certificates are valid.
package enum CertificateDates {
    /// The end of the first certificate of a PEM text, in seconds since 1970.
    package static func notAfter(pem: String) throws(TLSError) -> Int64 { try Certificate(pem: pem).notAfter() }
}
