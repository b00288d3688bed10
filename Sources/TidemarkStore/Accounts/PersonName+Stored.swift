// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain

/// A part that a name does not have is null.
extension PersonName {
    init?(storedGiven given: String?, family: String?) {
        self.init(given: given ?? "", family: family ?? "")
    }

    var storedGiven: String? { given.isEmpty ? nil : given }
    var storedFamily: String? { family.isEmpty ? nil : family }
}
