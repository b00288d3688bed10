// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain

@testable import TidemarkStore

/// What is remembered of databases' containers and quotas.
@Suite struct DatabaseContainersTests {
    private func entry(_ bytesMax: Int64?, version: Int64, account: AccountID? = nil) -> DatabaseContainers.Entry {
        .init(container: ContainerID(1), bytesMax: bytesMax, limitedAccount: account, version: version)
    }

    private func bytesMax(_ containers: DatabaseContainers, _ database: Int64) -> Int64?? {
        containers.remembered(of: [DatabaseID(database)])[DatabaseID(database)].map(\.bytesMax)
    }

    @Test func `R-011: only a newer version replaces what is remembered, however late answers come`() {
        let containers = DatabaseContainers()
        #expect(bytesMax(containers, 1) == nil)
        containers.remember([DatabaseID(1): entry(10, version: 2)])
        containers.remember([DatabaseID(1): entry(20, version: 1)])
        #expect(bytesMax(containers, 1) == 10)
        containers.remember([DatabaseID(1): entry(30, version: 3)])
        #expect(bytesMax(containers, 1) == 30)
    }

    @Test func `R-011: after an operator's change what was read before is forgotten, and the rest stays`() {
        let containers = DatabaseContainers()
        containers.remember([DatabaseID(1): entry(1, version: 1), DatabaseID(2): entry(2, version: 2)])
        containers.forget(before: 2)
        #expect(bytesMax(containers, 1) == nil && bytesMax(containers, 2) == 2)
        #expect(containers.remembered(of: [DatabaseID(1), DatabaseID(2), DatabaseID(3)]).count == 1)
    }

    @Test func `R-011, R-751: bytes are counted for a quota of the database or of the account`() {
        #expect(!entry(nil, version: 1).hasQuota)
        var shared = entry(nil, version: 1)
        shared.isPublic = true
        #expect(!shared.hasQuota)
        shared.shareMax = 0
        #expect(shared.hasQuota, "R-277")
        #expect(entry(0, version: 1).hasQuota && entry(nil, version: 1, account: AccountID(1)).hasQuota)
    }
}
