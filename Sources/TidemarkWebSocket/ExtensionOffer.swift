// SPDX-License-Identifier: Apache-2.0

internal import TidemarkHTTP

/// One element of a Sec-WebSocket-Extensions field (RFC 6455 §9.1): a name and its parameters.
struct ExtensionOffer: Equatable {
    struct Parameter: Equatable {
        let name: String
        /// Nil if there is no equals sign. Quoted values come without their quotes.
        let value: String?
    }

    let name: String
    let parameters: [Parameter]

    /// The elements of all lines in order; nil if one of them is malformed.
    static func parse(_ lines: [String]) -> [ExtensionOffer]? {
        var offers: [ExtensionOffer] = []
        for line in lines {
            for element in line.split(separator: ",", omittingEmptySubsequences: true) {
                let text = HeaderFields.trimmed(element)
                if text.isEmpty { continue }
                guard let offer = ExtensionOffer(text) else { return nil }
                offers.append(offer)
            }
        }
        return offers
    }

    init(name: String, parameters: [Parameter]) {
        self.name = name
        self.parameters = parameters
    }

    /// Splitting at commas and semicolons is safe: a quoted value must itself be a token, so it contains neither.
    private init?(_ text: String) {
        let parts = text.split(separator: ";", omittingEmptySubsequences: false).map { HeaderFields.trimmed($0) }
        guard let name = parts.first, Characters.isToken(name) else { return nil }
        var parameters: [Parameter] = []
        for part in parts.dropFirst() {
            guard let parameter = Self.parameter(part) else { return nil }
            parameters.append(parameter)
        }
        self.init(name: name, parameters: parameters)
    }

    private static func parameter(_ text: String) -> Parameter? {
        let sides = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        let name = HeaderFields.trimmed(sides[0])
        guard Characters.isToken(name) else { return nil }
        guard sides.count == 2 else { return Parameter(name: name, value: nil) }
        var value = HeaderFields.trimmed(sides[1])
        if value.utf8.count >= 2, value.hasPrefix("\""), value.hasSuffix("\"") {
            value = String(value.dropFirst().dropLast())
        }
        return Characters.isToken(value) ? Parameter(name: name, value: value) : nil
    }

    /// The element as text in the field.
    var text: String {
        parameters.reduce(name) { text, parameter in
            text + "; " + parameter.name + (parameter.value.map { "=" + $0 } ?? "")
        }
    }
}
