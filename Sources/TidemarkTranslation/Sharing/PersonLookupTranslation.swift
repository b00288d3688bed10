// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain
package import TidemarkWire

extension PersonLookup {
    package init(_ lookup: WireParticipantLookup) {
        if !lookup.user.isEmpty {
            self = .user(lookup.user)
        } else if !lookup.email.isEmpty {
            self = .address(PersonAddress(email: lookup.email))
        } else {
            self = .address(PersonAddress(phone: lookup.phone))
        }
    }
}

extension WireFetchShareParticipantsAnswer {
    /// - Parameter found: for each lookup whether there is an account, or why it failed.
    package init(_ found: [Result<Bool, FailureReason>]) {
        self.init()
        results = found.map { result in
            var wire = WireParticipantLookupResult()
            switch result {
            case .success(let hasAccount):
                var person = WireFoundPerson()
                person.hasAccount = hasAccount
                wire.person = person
            case .failure(let reason): wire.failure = reason.wire()
            }
            return wire
        }
    }
}
