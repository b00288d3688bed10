// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import TidemarkKit
@testable import foldersync

@Suite struct LargeFetchTests {
    private let paths = (0..<10).map { RelativePath("file \($0)") }

    /// - Parameter failures: by the number of the group.
    private func groups(_ failures: [Int: CKError.Code]) -> (counts: [Int], reason: CKError.Code?) {
        var fetch = LargeFetch(paths)
        var counts: [Int] = []
        while let group = fetch.nextGroup() {
            if let code = failures[counts.count] { fetch.failed(CKError(code)) }
            counts.append(group.count)
        }
        return (counts, (fetch.failure as? CKError)?.code)
    }

    @Test func `a few large files are fetched at once, and one that fails does not keep the others away`() {
        let (whole, failed) = (groups([:]), groups([0: .networkFailure, 1: .zoneBusy]))
        #expect(whole.counts == [4, 4, 2] && whole.reason == nil)
        #expect(failed.counts == [4, 4, 2] && failed.reason == .networkFailure)
    }

    @Test func `without a connection or an account no more files are asked for`() {
        for code in [CKError.Code.networkUnavailable, .notAuthenticated, .requestRateLimited] {
            let ended = groups([1: code])
            #expect(ended.counts == [4, 4] && ended.reason == code)
        }
    }
}
