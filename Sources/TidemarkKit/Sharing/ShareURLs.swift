// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// Makes and reads the URLs of shares. A server names a share by a *link*, which ends the URL.
///
/// Nobody ever connects to a URL that somebody sent. Its link is asked of the app's own server, whatever host it names.
struct ShareURLs: Sendable {
    /// Where the server is; nil: that is not known.
    private let server: URL?

    /// For containers whose server has no address, as in tests.
    static let unknown = ShareURLs(of: nil)

    /// I-7: the longest link that a server reads.
    private static let linkBytesMax = 1024

    /// - Parameter server: `wss://host:port`.
    init(of server: URL?) {
        self.server = server
    }

    /// `https://host:port/share/LINK`; nil for an empty link.
    func url(of link: String) -> URL? {
        guard !link.isEmpty else { return nil }
        var url = URLComponents()
        if let server, let place = URLComponents(url: server, resolvingAgainstBaseURL: false), place.host != nil {
            url = place
            url.user = nil
            url.password = nil
            url.query = nil
            url.fragment = nil
        } else {
            url.host = "tidemark.invalid"
        }
        url.scheme = ["ws", "http"].contains(url.scheme) ? "http" : "https"
        url.path = "/share/" + link
        return url.url
    }

    /// The part of a URL after its last slash; nil if no server could have made it.
    static func link(in url: URL) -> String? {
        let link = url.lastPathComponent
        guard !link.isEmpty, link != "/", link.utf8.count <= linkBytesMax, !link.utf8.contains(0) else { return nil }
        return link
    }
}
