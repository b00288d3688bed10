// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain

@Suite struct GrantsTests {
    @Test func `R-008: by default the world reads, users create, and the creator writes and reads`() {
        let rows: [(Set<Role>, Permissions)] = [
            ([], []), ([.world], .read), ([.authenticated], .create), ([.world, .authenticated], [.read, .create]),
            ([.creator], [.write, .read]), ([.world, .authenticated, .creator], .all), ([.custom("Editor")], []),
        ]
        for (roles, expected) in rows { #expect(Grants.standard.permissions(of: roles) == expected, "\(roles)") }
    }

    @Test func `R-008: grants to one role add up, and nothing is not a grant`() {
        var grants = Grants([.world: []])
        #expect(grants.byRole.isEmpty)
        grants.add([], to: .creator)
        grants.add(.read, to: .custom("Editor"))
        grants.add([.create, .write], to: .custom("Editor"))
        #expect(grants.byRole == [.custom("Editor"): .all])
        #expect(grants.permissions(of: [.world, .creator]) == [])
    }

    @Test func `roles have the names of the schema language`() {
        for role: Role in [.world, .authenticated, .creator, .custom("Editor")] {
            #expect(Role(name: role.name) == role)
        }
        for name in ["", "_other", "1a", "a b", "a-b"] { #expect(Role(name: name) == nil, "\(name)") }
    }
}
