// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain

@Suite struct IdentityTests {
    @Test func `R-929: a token changes nothing of who somebody is but the end`() {
        func identity(until end: Timestamp?) -> Identity {
            Identity(
                account: AccountID(1), credential: CredentialID(2), credentialExpiresAt: end, container: ContainerID(3),
                user: UserID(4), userRecordName: "_5", privateDatabase: DatabaseID(6), sharedDatabase: DatabaseID(7),
                feedsEverywhere: true,
                limits: AccountLimits(requests: .unlimited, requestsInContainer: .unlimited),
                quota: QuotaStanding(bytesMax: 9, byteCount: 8))
        }
        let end = Timestamp(milliseconds: 9)
        for earlier in [nil, Timestamp(milliseconds: 1)] {
            #expect(identity(until: earlier).until(end) == identity(until: end))
        }
    }
}
