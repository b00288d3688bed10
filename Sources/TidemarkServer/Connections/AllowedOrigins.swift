// SPDX-License-Identifier: Apache-2.0

/// The pages from which a browser may connect without a credential.
///
/// A browser names the page's origin (RFC 6454) when it connects, and no page can change that. Without a list, any page
/// that somebody visits can read what everybody may read, from behind that person's firewall. Programs other than
/// browsers name no origin, and are always allowed.
package struct AllowedOrigins: Sendable, Equatable {
    private let origins: Set<String>

    /// - Parameter origins: such as `https://app.example.org` or `http://localhost:3000`.
    /// - Returns: nil if one of them is not an origin.
    package init?(_ origins: [String]) {
        var all: Set<String> = []
        for origin in origins {
            guard let origin = Self.canonical(origin) else { return nil }
            all.insert(origin)
        }
        self.origins = all
    }

    /// - Parameter origin: the browser's header; nil: the client is not a browser.
    package func allow(_ origin: String?) -> Bool {
        guard let origin else { return true }
        return Self.canonical(origin).map(origins.contains) ?? false
    }

    /// As browsers write it: in lower case, without the usual port. Nil if it is not an origin.
    private static func canonical(_ text: String) -> String? {
        var origin = text.lowercased()
        for (scheme, usualPort) in [("https://", ":443"), ("http://", ":80")] where origin.hasPrefix(scheme) {
            if origin.hasSuffix(usualPort) { origin.removeLast(usualPort.count) }
            let place = origin.dropFirst(scheme.count)
            let isPlace = place.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != 0x2F && $0 != 0x2C && $0 != 0x40 }
            return place.isEmpty || !isPlace ? nil : origin
        }
        return nil
    }
}
