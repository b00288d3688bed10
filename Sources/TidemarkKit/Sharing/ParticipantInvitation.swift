// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// The kind and time of a participant's invitation. Only a server changes it.
struct ParticipantInvitation: Sendable, Equatable {
    /// Whether the participant has no name: the first person who uses the one-time URL takes part.
    var isByLink = false
    /// The one-time URL, for the owner and administrators; nil until the share is saved.
    var url: URL?
    /// Nil for the owner, and if the server has not said it.
    var addedAt: Date?
    /// Whether the person had asked for access.
    var isApprovedRequester = false

    init(isByLink: Bool = false, url: URL? = nil, addedAt: Date? = nil, isApprovedRequester: Bool = false) {
        self.isByLink = isByLink
        self.url = url
        self.addedAt = addedAt
        self.isApprovedRequester = isApprovedRequester
    }

    /// The invitation in an archive. Older archives have none.
    init(coder: NSCoder) {
        isByLink = coder.containsValue(forKey: "IsByLink") && coder.decodeBool(forKey: "IsByLink")
        url = coder.optionalString(forKey: "OneTimeURL").flatMap { URL(string: $0) }
        if coder.containsValue(forKey: "DateAdded") {
            addedAt = Date(timeIntervalSince1970: coder.decodeDouble(forKey: "DateAdded"))
        }
        isApprovedRequester = coder.containsValue(forKey: "IsApproved") && coder.decodeBool(forKey: "IsApproved")
    }

    func encode(with coder: NSCoder) {
        if isByLink { coder.encode(true, forKey: "IsByLink") }
        if let url { coder.encode(string: url.absoluteString, forKey: "OneTimeURL") }
        if isApprovedRequester { coder.encode(true, forKey: "IsApproved") }
        if let addedAt { coder.encode(addedAt.timeIntervalSince1970, forKey: "DateAdded") }
    }
}
