// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain
import TidemarkScheduling
import TidemarkService
import TidemarkTestKit
import TidemarkTestSupport

@Suite struct AuthenticateTests {
    private let device = DeviceID(high: 2, low: 2)

    @Test func `R-014: a credential is checked before the container is looked for`() throws {
        let fixture = try ServiceFixture()
        let service = fixture.server()
        try fixture.scheduler.simulate {
            func authenticate(_ hash: [UInt8], creates: Bool) async -> Result<Identity?, FailureReason> {
                await service.authenticate(
                    credentialHash: hash, container: "iCloud.other", environment: .development,
                    createsContainer: creates, device: device, deviceName: "")
            }
            #expect(await authenticate([1], creates: true) == .success(nil))
            #expect(await authenticate([1], creates: false) == .success(nil))
            #expect(await authenticate(fixture.credentialHash, creates: false) == .failure(.containerUnknown))
            let identity = try #require(try await authenticate(fixture.credentialHash, creates: true).get())
            #expect(identity.privateDatabase != fixture.identity.privateDatabase)
            #expect(await service.voidCredentials(among: [identity.credential]) == .success([]))
            fixture.database.revokeCredential(identity.credential)
            #expect(await service.voidCredentials(among: [identity.credential]) == .success([identity.credential]))
            #expect(await authenticate(fixture.credentialHash, creates: true) == .success(nil))
        }
    }
}
