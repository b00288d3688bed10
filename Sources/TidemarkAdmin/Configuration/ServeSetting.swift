// SPDX-License-Identifier: Apache-2.0

package import ArgumentParser
internal import TidemarkServer
internal import TidemarkSockets
internal import TidemarkTelemetry
internal import TidemarkTracing

/// A setting of `tidemark serve`: a flag, an environment variable, and a key of the settings file. ``all`` is the only list of
/// them. Flags, their help, the file and `tidemark admin config` follow from it.
package struct ServeSetting: Sendable {
    /// What its value is.
    package enum Kind: Sendable {
        case text
        case number(ClosedRange<Int>)
        /// A number from 0 to 1.
        case part
        case choice([String])
        /// True or false.
        case flag
        /// A numeric address and a port.
        case address
        /// Several of them. In a variable they are separated by commas.
        case addresses
        /// Networks of addresses, separated by commas.
        case networks
        /// Web origins, separated by commas.
        case origins
        /// The URL of a collector of traces.
        case collector
        /// The URLs of a bus of servers, separated by commas.
        case bus
        /// Where the database is. It may have a password in it.
        case database
    }

    /// The flag without its hyphens: "log-level". In a settings file it has the same name.
    package let key: String
    package let kind: Kind
    /// What its value is called in the help; empty for a flag.
    let valueName: String
    /// The value without the setting, as the help says it. Nil: there is none.
    let standard: String?
    let abstract: String
    let discussion: String

    init(
        _ key: String, _ kind: Kind, _ valueName: String = "", default standard: String? = nil, _ abstract: String,
        _ discussion: String = ""
    ) {
        self.key = key
        self.kind = kind
        self.valueName = valueName
        self.standard = standard
        self.abstract = abstract
        self.discussion = discussion
    }

    package var flag: String { "--" + key }
    package var variable: String { Setting.variable(of: flag) }

    /// Whether its value may have a password in it, which is never shown.
    var isSecret: Bool { if case .database = kind { true } else { false } }

    /// Whether a settings file may have a list for it.
    var takesList: Bool {
        switch kind {
        case .addresses, .networks, .origins, .bus: true
        case .text, .number, .part, .choice, .flag, .address, .collector, .database: false
        }
    }

    /// The help of the flag.
    package static func help(_ key: String) -> ArgumentHelp {
        let setting = named(key)
        return ArgumentHelp(
            setting.abstract, discussion: setting.discussion,
            valueName: setting.valueName.isEmpty ? nil : setting.valueName)
    }

    /// - Parameter key: of a setting that there is. The options of `serve` name it, and a test compares them with the list.
    package static func named(_ key: String) -> ServeSetting {
        guard let setting = byKey[key] else { preconditionFailure("There is no setting \(key).") }
        return setting
    }

    /// Nil: there is none.
    static func find(_ key: String) -> ServeSetting? { byKey[key] }

    private static let byKey = Dictionary(all.map { ($0.key, $0) }) { first, _ in first }
}

extension ServeSetting {
    /// What is wrong with a value, as the end of a sentence that begins with the setting's name: "must be between 1 and 64,
    /// not 0". Nil: nothing that can be seen without the other settings.
    func problem(with text: String) -> String? {
        let shown = Self.shown(text)
        return switch kind {
        case .text, .database: nil
        case .number(let range):
            if let number = Int(text) {
                range.contains(number) ? nil : Self.outside(range, number)
            } else {
                "must be a number, not \(shown)"
            }
        case .part:
            Double(text).map { (0...1).contains($0) } == true
                ? nil : "must be between 0 and 1, such as 0.01, not \(shown)"
        case .choice(let choices):
            choices.contains(text) ? nil : "must be one of \(choices.joined(separator: ", ")), not \(shown)"
        case .flag: Self.truth(of: text) == nil ? "must be true or false, not \(shown)" : nil
        case .address: Self.addressProblem(text)
        case .addresses: Self.parts(of: text).lazy.compactMap(Self.addressProblem).first
        case .networks: Self.parts(of: text).lazy.compactMap(Self.networkProblem).first
        case .origins:
            AllowedOrigins(Self.parts(of: text)) == nil
                ? "takes origins separated by commas, such as https://app.example.org, without a path, not \(shown)"
                : nil
        case .collector: Self.collectorProblem(text)
        case .bus: Self.busProblem(text)
        }
    }

    static func outside(_ range: ClosedRange<Int>, _ number: Int) -> String {
        "must be between \(range.lowerBound) and \(range.upperBound), not \(number)"
    }

    /// A text of an operator in a message.
    static func shown(_ text: String) -> String {
        let some = text.unicodeScalars.prefix(shownMax)
        return String(String.UnicodeScalarView(some)).inOneLine + (some.count < text.unicodeScalars.count ? "…" : "")
    }

    private static let shownMax = 200

    /// Nil: neither true nor false.
    static func truth(of text: String) -> Bool? {
        switch text.lowercased() {
        case "1", "true", "yes", "on": true
        case "0", "false", "no", "off": false
        default: nil
        }
    }

    /// The parts of a list in one text.
    package static func parts(of text: String) -> [String] {
        text.split(separator: ",").map { part in
            String(part.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
        }
    }

    private static func addressProblem(_ text: String) -> String? {
        (try? SocketAddress(parsing: text)) == nil
            ? "takes a numeric address and a port, such as 127.0.0.1:8443, not \(shown(text))" : nil
    }

    private static func networkProblem(_ text: String) -> String? {
        AddressNetwork(parsing: text) == nil
            ? "takes networks separated by commas, such as 10.0.0.0/8, 192.0.2.7 or 2001:db8::/32, not \(shown(text)). Bits of "
                + "the address after the length must be zero" : nil
    }

    private static func collectorProblem(_ text: String) -> String? {
        do {
            _ = try TraceEndpoint(text)
            return nil
        } catch {
            switch error {
            case .malformed:
                return "takes a URL such as http://127.0.0.1:4318 or https://collector.example.org, not \(shown(text))"
            case .plainBeyondLoopback:
                return
                    "\(shown(text)) is not on this machine. Use https, or a collector on this machine that sends on what it gets"
            }
        }
    }

    private static func busProblem(_ text: String) -> String? {
        do {
            _ = try NoticeBusSettings(text)
            return nil
        } catch {
            switch error {
            case .malformed(let part):
                return
                    "takes URLs separated by commas, such as tls://nats.example.org:4222 or nats://127.0.0.1:4222/notes, not "
                    + shown(part)
            case .schemeUnknown(let scheme):
                return
                    "knows nats:// and tls://, for servers of NATS, not \(shown(scheme))://. Without it servers tell each "
                    + "other by the database"
            case .hasSecret:
                return "takes no user and no password, because others would see them. Put them into the file of "
                    + "--notice-bus-credentials"
            case .plainBeyondLoopback(let host):
                return "\(shown(host)) is not on this machine. Use tls://"
            case .different:
                return "takes servers of one bus: all with TLS or none, and all with the same path"
            }
        }
    }
}
