// SPDX-License-Identifier: Apache-2.0

internal import TidemarkHTTP

/// Negotiates permessage-deflate in the handshake (RFC 7692 §5 and §7.1).
enum DeflateNegotiation {
    static let name = "permessage-deflate"

    private static let serverNoContext = "server_no_context_takeover"
    private static let clientNoContext = "client_no_context_takeover"
    private static let serverWindow = "server_max_window_bits"
    private static let clientWindow = "client_max_window_bits"

    /// The parameters of one element. Each occurs at most once and has an allowed value.
    private struct Parameters {
        enum Window: Equatable {
            case absent
            case bits(Int)
            /// Named without a value, which only `client_max_window_bits` in an offer may be.
            case open
        }

        var serverKeepsContext = true
        var clientKeepsContext = true
        var serverWindow = Window.absent
        var clientWindow = Window.absent

        /// Nil for an unknown, repeated or malformed parameter. Such an element is declined, or fails the handshake.
        init?(_ offer: ExtensionOffer) {
            var seen: Set<String> = []
            for parameter in offer.parameters {
                guard seen.insert(parameter.name).inserted else { return nil }
                switch (parameter.name, parameter.value) {
                case (DeflateNegotiation.serverNoContext, nil): serverKeepsContext = false
                case (DeflateNegotiation.clientNoContext, nil): clientKeepsContext = false
                case (DeflateNegotiation.clientWindow, nil): clientWindow = .open
                case (DeflateNegotiation.serverWindow, .some(let text)):
                    guard let bits = Self.bits(text) else { return nil }
                    serverWindow = .bits(bits)
                case (DeflateNegotiation.clientWindow, .some(let text)):
                    guard let bits = Self.bits(text) else { return nil }
                    clientWindow = .bits(bits)
                default: return nil
                }
            }
        }

        /// 8 … 15 without leading zeroes (RFC 7692 §7.1.2).
        private static func bits(_ text: String) -> Int? {
            guard let bits = Int(text), (8...15).contains(bits), String(bits) == text else { return nil }
            return bits
        }
    }

    /// A server's choice: the first offer that it can meet, with the agreed parameters and the answer.
    static func accept(
        _ offers: [ExtensionOffer], _ settings: DeflateSettings
    ) -> (DeflateParameters, answer: ExtensionOffer)? {
        for offer in offers where HeaderFields.isSame(offer.name, name) {
            guard let wishes = Parameters(offer) else { continue }
            return agree(wishes, settings)
        }
        return nil
    }

    private static func agree(
        _ wishes: Parameters, _ settings: DeflateSettings
    ) -> (DeflateParameters, answer: ExtensionOffer) {
        var agreed = DeflateParameters()
        var answer: [ExtensionOffer.Parameter] = []
        agreed.serverKeepsContext = wishes.serverKeepsContext && settings.keepsSendContext
        agreed.clientKeepsContext = wishes.clientKeepsContext && settings.keepsReceiveContext
        if !agreed.serverKeepsContext { answer.append(.init(name: serverNoContext, value: nil)) }
        if !agreed.clientKeepsContext { answer.append(.init(name: clientNoContext, value: nil)) }
        agreed.serverWindowBits = settings.sendWindowBits
        if case .bits(let bits) = wishes.serverWindow { agreed.serverWindowBits = min(bits, settings.sendWindowBits) }
        if wishes.serverWindow != .absent || agreed.serverWindowBits < 15 {
            answer.append(.init(name: serverWindow, value: String(agreed.serverWindowBits)))
        }
        // RFC 7692 §7.1.2.2: the answer may name the client's window only if the client did.
        switch wishes.clientWindow {
        case .absent: agreed.clientWindowBits = 15
        case .open: agreed.clientWindowBits = settings.receiveWindowBits
        case .bits(let bits): agreed.clientWindowBits = min(bits, settings.receiveWindowBits)
        }
        if agreed.clientWindowBits < 15 {
            answer.append(.init(name: clientWindow, value: String(agreed.clientWindowBits)))
        }
        return (agreed, ExtensionOffer(name: name, parameters: answer))
    }

    /// A client's offer.
    static func offer(_ settings: DeflateSettings) -> ExtensionOffer {
        var parameters: [ExtensionOffer.Parameter] = []
        if !settings.keepsReceiveContext { parameters.append(.init(name: serverNoContext, value: nil)) }
        if !settings.keepsSendContext { parameters.append(.init(name: clientNoContext, value: nil)) }
        if settings.receiveWindowBits < 15 {
            parameters.append(.init(name: serverWindow, value: String(settings.receiveWindowBits)))
        }
        let isOpen = settings.sendWindowBits == 15
        parameters.append(.init(name: clientWindow, value: isOpen ? nil : String(settings.sendWindowBits)))
        return ExtensionOffer(name: name, parameters: parameters)
    }

    /// The parameters in the server's answer to ``offer(_:)``. Throws if it does not fit the offer.
    static func confirm(
        _ answer: ExtensionOffer, _ settings: DeflateSettings
    ) throws(WebSocketError) -> DeflateParameters {
        guard HeaderFields.isSame(answer.name, name), let terms = Parameters(answer), terms.clientWindow != .open else {
            throw WebSocketError(.extension)
        }
        var agreed = DeflateParameters()
        // RFC 7692 §7.1.1.1: a server that accepts the parameter says so.
        guard settings.keepsReceiveContext || !terms.serverKeepsContext else { throw WebSocketError(.extension) }
        agreed.serverKeepsContext = terms.serverKeepsContext
        agreed.clientKeepsContext = terms.clientKeepsContext && settings.keepsSendContext
        if case .bits(let bits) = terms.serverWindow { agreed.serverWindowBits = bits }
        guard agreed.serverWindowBits <= settings.receiveWindowBits else { throw WebSocketError(.extension) }
        agreed.clientWindowBits = settings.sendWindowBits
        if case .bits(let bits) = terms.clientWindow { agreed.clientWindowBits = min(bits, settings.sendWindowBits) }
        return agreed
    }
}
