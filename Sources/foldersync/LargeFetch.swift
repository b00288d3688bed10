// SPDX-License-Identifier: Apache-2.0

import CloudKit

/// The large files that are still to be fetched, a few in one request.
///
/// They are on the disk together. If one download fails for a while, so does the request, and none of its files is
/// placed.
struct LargeFetch {
    static let groupCountMax = 4

    private var paths: ArraySlice<RelativePath>
    /// The first one, if there was any.
    private(set) var failure: (any Error)?

    init(_ paths: [RelativePath]) {
        self.paths = paths[...]
    }

    /// The files of the next request; nil if there are none.
    mutating func nextGroup() -> ArraySlice<RelativePath>? {
        let group = paths.prefix(Self.groupCountMax)
        paths = paths.dropFirst(Self.groupCountMax)
        return group.isEmpty ? nil : group
    }

    /// A request has failed. The next one goes all the same, unless it would fail for the same reason.
    mutating func failed(_ error: any Error) {
        failure = failure ?? error
        if let error = error as? CKError, error.concernsEveryRequest { paths = [] }
    }
}

extension CKError {
    fileprivate var concernsEveryRequest: Bool {
        switch code {
        case .networkUnavailable, .notAuthenticated, .accountTemporarilyUnavailable, .requestRateLimited,
            .operationCancelled:
            true
        default: false
        }
    }
}
