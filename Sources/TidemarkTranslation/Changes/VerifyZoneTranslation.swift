// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain
package import TidemarkWire

extension WireVerifyZoneAnswer {
    /// Numbers never are negative.
    package init(_ inventory: ZoneInventory, token: ChangeToken) {
        self.init()
        self.token = token.bytes
        recordCount = UInt64(clamping: inventory.recordCount)
        digest = inventory.digest ?? []
        versions = inventory.versions.map { version in
            var named = WireNamedVersion()
            named.name = version.name
            named.number = UInt64(bitPattern: version.number)
            return named
        }
        next = inventory.next ?? ""
    }
}
