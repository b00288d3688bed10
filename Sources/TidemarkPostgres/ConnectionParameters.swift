// SPDX-License-Identifier: Apache-2.0

internal import CTidemarkLibpq

/// An operator's connection string.
package enum PostgresURL {
    /// Whether it has a password in it. False also for a string that cannot be parsed.
    package static func hasPassword(_ url: String) -> Bool {
        guard let parameters = parameters(of: url) else { return false }
        return secrets.contains { parameters[$0]?.isEmpty == false }
    }

    /// The same string if it has no password, and otherwise one that hides it; nil if it cannot be parsed.
    package static func redacted(_ url: String) -> String? {
        guard let parameters = parameters(of: url) else { return nil }
        guard hasPassword(url) else { return url }
        return parameters.sorted { $0.key < $1.key }.map { keyword, value in
            "\(keyword)=\(secrets.contains(keyword) ? "***" : quoted(value))"
        }.joined(separator: " ")
    }

    /// A string with other values for some parameters; an empty one removes a parameter. Nil if it cannot be parsed.
    package static func replacing(_ changes: [String: String], in url: String) -> String? {
        guard let parameters = parameters(of: url) else { return nil }
        return parameters.merging(changes) { $1 }.filter { !$0.value.isEmpty }.sorted { $0.key < $1.key }
            .map { "\($0.key)=\(quoted($0.value))" }.joined(separator: " ")
    }

    private static let secrets = ["password", "sslpassword"]

    private static func parameters(of url: String) -> [String: String]? {
        try? ConnectionParameters.parse(url)
    }

    /// As libpq's keyword strings have values.
    static func quoted(_ value: String) -> String {
        let isPlain = !value.isEmpty && value.utf8.allSatisfy { $0 > 0x20 && $0 != 0x27 && $0 != 0x5C }
        guard !isPlain else { return value }
        return "'" + value.replacing("\\", with: "\\\\").replacing("'", with: "\\'") + "'"
    }
}

/// The parameters with which libpq connects: the operator's connection string, and our defaults for what it leaves
/// open.
struct ConnectionParameters: Sendable {
    private let keywords: [String]
    private let values: [String]

    /// - Parameters:
    ///   - url: a URL or keyword string of libpq; may name several hosts.
    ///   - settings: of the session. They are sent when the connection starts, so they cost no round trip.
    init(url: String, settings: [(String, String)], applicationName: String) throws(PostgresError) {
        var parameters = try Self.parse(url)
        for (keyword, value) in Self.defaults where parameters[keyword] == nil { parameters[keyword] = value }
        if parameters["application_name"] == nil { parameters["application_name"] = applicationName }
        parameters["client_encoding"] = "UTF8"
        let options = settings.map { "-c \($0.0)=\(Self.escaped($0.1))" }
        // Our settings come last and win, because correctness depends on them.
        parameters["options"] = ([parameters["options"]].compactMap { $0 } + options).joined(separator: " ")
        let sorted = parameters.sorted { $0.key < $1.key }
        keywords = sorted.map(\.key)
        values = sorted.map(\.value)
    }

    /// They detect within seconds that a peer has vanished: these on our side, and the server's own settings on its
    /// side.
    private static let defaults = [
        "connect_timeout": "5",
        "keepalives_idle": "10",
        "keepalives_interval": "5",
        "keepalives_count": "3",
        "tcp_user_timeout": "10000",
    ]

    func withKeywordsAndValues<Result>(
        _ body: (UnsafePointer<UnsafePointer<CChar>?>, UnsafePointer<UnsafePointer<CChar>?>) -> Result
    ) -> Result {
        // One block of memory for all strings, so that their addresses do not change.
        let texts = keywords + values
        let bytes = texts.flatMap { Array($0.utf8CString) }
        return bytes.withUnsafeBufferPointer { bytes in
            var pointers: [UnsafePointer<CChar>?] = []
            var offset = 0
            for (index, text) in texts.enumerated() {
                if index == keywords.count { pointers.append(nil) }
                pointers.append(bytes.baseAddress.map { $0 + offset })
                offset += text.utf8.count + 1
            }
            pointers.append(nil)
            return pointers.withUnsafeBufferPointer { pointers in
                guard let base = pointers.baseAddress else { preconditionFailure("There are always parameters.") }
                return body(base, base + keywords.count + 1)
            }
        }
    }

    fileprivate static func parse(_ url: String) throws(PostgresError) -> [String: String] {
        var message: UnsafeMutablePointer<CChar>?
        guard let options = PQconninfoParse(url, &message) else {
            let detail = message.map { String(cString: $0) } ?? "no memory"
            PQfreemem(message)
            throw PostgresError(.invalidURL, detail: detail)
        }
        defer { PQconninfoFree(options) }
        var parameters: [String: String] = [:]
        var next = options
        while let keyword = next.pointee.keyword {
            if let value = next.pointee.val { parameters[String(cString: keyword)] = String(cString: value) }
            next += 1
        }
        return parameters
    }

    /// In `options`, blanks separate values, and a backslash escapes the next character.
    private static func escaped(_ value: String) -> String {
        var result = ""
        for character in value {
            if character == " " || character == "\\" { result.append("\\") }
            result.append(character)
        }
        return result
    }
}
