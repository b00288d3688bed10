// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain

/// Keys of zones that are given to other accounts.
@Suite struct KeyGrantTests {
    private static func bytes(_ number: UInt8, _ count: Int) -> [UInt8] { Array(repeating: number, count: count) }

    private static func grant(
        publicKey: Int = 32, newestID: Int = 16, keyCount: Int = 1, sealed: Int = 96
    ) -> KeyGrant {
        KeyGrant(
            user: UserID(2), publicKey: bytes(1, publicKey), newestID: bytes(2, newestID), keyCount: keyCount,
            sealed: bytes(3, sealed))
    }

    private static func reader(
        _ user: Int64 = 2, publicKey: UInt8? = 1, granted: KeyReader.Granted? = nil
    ) -> KeyReader {
        KeyReader(
            user: UserID(user), recordName: "_bob", mode: .endToEnd, publicKey: publicKey.map { bytes($0, 32) },
            granted: granted)
    }

    @Test func `R-969: a grant of another length than any has is refused`() {
        #expect(Self.grant().refusal == nil)
        // With a hundred keys.
        #expect(Self.grant(keyCount: 100, sealed: 4_848).refusal == nil)
        let bad = [
            Self.grant(publicKey: 31), Self.grant(publicKey: 33), Self.grant(publicKey: 0), Self.grant(newestID: 15),
            Self.grant(newestID: 17), Self.grant(newestID: 0), Self.grant(keyCount: 0), Self.grant(keyCount: -1),
            Self.grant(sealed: 0), Self.grant(sealed: 95), Self.grant(sealed: 4_849),
            Self.grant(keyCount: Int(Int32.max) + 1),
        ]
        for grant in bad { #expect(grant.refusal == .requestInvalid, "\(grant.sealed.count)") }
    }

    @Test func `R-969: a grant is kept for a reader, for the account's present key, with the zone's newest key`() {
        let keys = ZoneKeyCount(count: 3, newestID: Self.bytes(2, 16))
        let grant = Self.grant()
        #expect(grant.fits(Self.reader(), of: keys))
        #expect(!grant.fits(nil, of: keys))
        #expect(!grant.fits(Self.reader(3), of: keys))
        #expect(!grant.fits(Self.reader(publicKey: 9), of: keys))
        #expect(!grant.fits(Self.reader(publicKey: nil), of: keys))
        #expect(!grant.fits(Self.reader(), of: ZoneKeyCount(count: 3, newestID: Self.bytes(9, 16))))
        #expect(!grant.fits(Self.reader(), of: ZoneKeyCount(count: 0, newestID: nil)))
    }

    @Test func `R-282: a grant with fewer keys replaces only what cannot be opened, or lacks the newest key`() {
        let keys = ZoneKeyCount(count: 3, newestID: Self.bytes(2, 16))
        func granted(_ key: UInt8, _ newest: UInt8, _ count: Int) -> KeyReader {
            Self.reader(
                granted: KeyReader.Granted(
                    publicKey: Self.bytes(key, 32), newestID: Self.bytes(newest, 16), keyCount: count))
        }
        // An import adds older keys while a device makes a grant.
        #expect(!Self.grant(keyCount: 2).fits(granted(1, 2, 3), of: keys))
        #expect(Self.grant(keyCount: 3).fits(granted(1, 2, 3), of: keys))
        #expect(Self.grant(keyCount: 3).fits(granted(1, 2, 2), of: keys))
        #expect(Self.grant(keyCount: 1).fits(granted(9, 2, 3), of: keys), "the account has another key now")
        #expect(Self.grant(keyCount: 1).fits(granted(1, 9, 3), of: keys), "the zone has another key now")
        // Keys of an earlier life of the zone are none of this one.
        let again = ZoneKeyCount(count: 1, newestID: Self.bytes(8, 16))
        #expect(!Self.grant(keyCount: 3).fits(granted(1, 8, 1), of: again))
        #expect(!Self.grant(keyCount: 3).fits(Self.reader(), of: ZoneKeyCount(count: 0, newestID: nil)))
    }

    @Test func `R-269, R-271: who has all keys lacks none, until the zone or the account has another one`() {
        func granted(_ key: UInt8, _ newest: UInt8, _ count: Int) -> KeyReader.Granted {
            KeyReader.Granted(publicKey: Self.bytes(key, 32), newestID: Self.bytes(newest, 16), keyCount: count)
        }
        let keys = ZoneKeyCount(count: 2, newestID: Self.bytes(2, 16))
        let rows: [(KeyReader, Bool)] = [
            (Self.reader(), true),
            (Self.reader(publicKey: nil), true),
            (Self.reader(granted: granted(1, 2, 2)), false),
            // The zone had fewer keys. Older ones come with an import.
            (Self.reader(granted: granted(1, 2, 1)), true),
            (Self.reader(granted: granted(1, 1, 2)), true),
            // An account with a new key cannot open what it was given.
            (Self.reader(publicKey: 9, granted: granted(1, 2, 2)), true),
            (Self.reader(publicKey: nil, granted: granted(1, 2, 2)), true),
        ]
        for (reader, lacks) in rows { #expect(reader.lacks(keys) == lacks, "\(reader)") }
    }

    @Test func `R-269: keys are for whoever was invited by account or has accepted, and for nobody else`() {
        let share = Share(number: ShareNumber(7), publicPermission: .readWrite)
        var ended = share
        ended.endedNumber = 9
        var readers = 0
        for role in [ParticipantRole.administrator, .privateUser, .publicUser] {
            for status in ParticipantStatus.allCases {
                for permission in [SharePermission.noAccess, .readOnly, .readWrite] {
                    for user in [nil, UserID(2)] {
                        let row = Participant(
                            id: ParticipantID(high: 1, low: 1), user: user, role: role, permission: permission,
                            status: status, addedAt: Timestamp(milliseconds: 0))
                        let isReader =
                            role != .publicUser && status != .removed && permission != .noAccess && user != nil
                        #expect(row.isKeyReader(in: share) == isReader, "\(row)")
                        #expect(!row.isKeyReader(in: ended))
                        if isReader { readers += 1 }
                    }
                }
            }
        }
        #expect(readers == 8, "two roles, two states, two permissions")
    }

    @Test func `R-269: whoever takes part in several shares of a zone is one reader`() {
        let numbers = [ShareNumber(1), ShareNumber(2)]
        let shares = numbers.map { Share(number: $0, publicPermission: .noAccess) }
        func row(_ low: UInt64, _ user: Int64, _ status: ParticipantStatus = .accepted) -> Participant {
            Participant(
                id: ParticipantID(high: 1, low: low), user: UserID(user), status: status,
                addedAt: Timestamp(milliseconds: 0))
        }
        let sharing = ZoneSharing(
            owner: UserID(1), shares: shares,
            participants: [
                numbers[0]: [row(1, 5), row(2, 3)],
                numbers[1]: [row(3, 5), row(4, 4, .removed), row(5, 2, .pending)],
            ])
        #expect(sharing.keyReaders == [UserID(2), UserID(3), UserID(5)])
        #expect(ZoneSharing(owner: UserID(1)).keyReaders.isEmpty)
    }

    @Test func `R-268: a public key of another length is refused`() {
        for count in [0, 31, 33] {
            let key = AccountKey(
                mode: .endToEnd, id: Self.bytes(1, 16), key: nil, publicKey: Self.bytes(2, count))
            #expect(key.refusal == .requestInvalid)
        }
        #expect(
            AccountKey(mode: .endToEnd, id: Self.bytes(1, 16), key: nil, publicKey: Self.bytes(2, 32)).refusal == nil)
        #expect(AccountKey(mode: .endToEnd, id: Self.bytes(1, 16), key: nil).refusal == nil)
    }
}
