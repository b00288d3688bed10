// SPDX-License-Identifier: Apache-2.0

/// Takes secrets out of text that leaves an operator's machine (R-871): passwords in URLs and settings, credentials, tokens
/// and keys.
enum Redaction {
    static let mark = "[redacted]"

    static func text(_ text: String) -> String {
        // A value after a secret's name, quoted or not.
        let named =
            /(?i)((?:password|passwd|pwd|secret|token|credential|api_?key|authorization|cookie)["']?\s*[:=]\s*)(?:"[^"\n]*"|'[^'\n]*'|(?:bearer|basic)\s+\S+|[^\s,;&"'}]+)/
        let bearer = /(?i)(\b(?:bearer|basic)\s+)[A-Za-z0-9._~+\/=-]{8,}/
        // The password in scheme://user:password@host. It may contain everything but spaces and slashes.
        let url = /([A-Za-z][A-Za-z0-9+.-]*:\/\/[^\s:@\/]*:)[^\s\/]*@/
        let credential = /tidemark_[A-Za-z0-9_-]{8,}/
        // A master key has 64 hexadecimal digits, and a private key has lines between two marks.
        let key = /\b[0-9A-Fa-f]{64}\b/
        let block = /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/
        return
            text
            .replacing(block) { _ in mark }
            .replacing(url) { "\($0.1)\(mark)@" }
            .replacing(credential) { _ in mark }
            .replacing(key) { _ in mark }
            .replacing(named) { "\($0.1)\(mark)" }
            .replacing(bearer) { "\($0.1)\(mark)" }
    }
}
