// SPDX-License-Identifier: Apache-2.0

internal import TidemarkPostgres

/// Takes secrets out of text that leaves an operator's machine (R-871): passwords in URLs and settings, credentials, tokens
/// and keys.
enum Redaction {
    static let mark = "[redacted]"

    /// A database's URL without its password. One that cannot be read is hidden as a whole.
    static func databaseURL(_ url: String) -> String { PostgresURL.redacted(url)?.inOneLine ?? mark }

    /// The whole lines of a text that was cut at its beginning: what is left of the first line may be a secret without its
    /// name.
    static func wholeLines(ofEnd text: String) -> String {
        text.firstIndex(where: \.isNewline).map { String(text[text.index(after: $0)...]) } ?? ""
    }

    static func text(_ text: String) -> String {
        // A value after a name that has a secret's name in it, quoted or not. In a string of JSON the quotes are escaped.
        let named =
            /(?i)((?:password|passphrase|passwd|pwd|secret|token|credential|key|authorization|cookie)\w*\\*["']?\s*[:=]\s*)(?:\\+"[^\n]*?\\+"|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|(?:bearer|basic)\s+\S+|[^\s,;&"'}]+)/
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
            .withoutKeyEnds()
            .replacing(url) { "\($0.1)\(mark)@" }
            .replacing(credential) { _ in mark }
            .replacing(key) { _ in mark }
            .replacing(named) { "\($0.1)\(mark)" }
            .replacing(bearer) { "\($0.1)\(mark)" }
    }
}

extension String {
    /// Without the ends of private keys whose beginnings are not there, because the text begins in the middle of one. A key's
    /// lines are Base64, perhaps with escaped ends of lines.
    fileprivate func withoutKeyEnds() -> String {
        var text = self
        while let end = text.firstRange(of: /-----END [A-Z ]*PRIVATE KEY-----/) {
            let start = text[..<end.lowerBound].lastIndex { !$0.isOfKey }.map { text.index(after: $0) }
            text.replaceSubrange((start ?? text.startIndex)..<end.upperBound, with: Redaction.mark)
        }
        return text
    }
}

extension Character {
    fileprivate var isOfKey: Bool {
        isASCII && (isLetter || isNumber || isWhitespace) || self == "+" || self == "/" || self == "=" || self == "\\"
    }
}
