// SPDX-License-Identifier: Apache-2.0

import Testing
import TidemarkDomain
import TidemarkTestSupport

/// Saves of a CKShare: in which order failures win, and what is written.
@Suite struct ShareRulesTests {
    private func reader(_ user: UserID, _ zone: inout SharedTestZone, _ role: ParticipantRole = .privateUser)
        -> ParticipantSave
    {
        ParticipantSave(id: zone.newID(), person: .user(user), role: role)
    }

    /// A shared zone in which bob administers, and carol reads.
    private func sharedZone() -> SharedTestZone {
        var zone = SharedTestZone()
        zone.invite(reader(bob, &zone, .administrator), reader(carol, &zone))
        zone.accept(bob)
        zone.accept(carol)
        return zone
    }

    private func plan(
        _ save: ShareSave, _ zone: SharedTestZone, by user: UserID = alice, in scope: DatabaseScope? = nil,
        policy: SavePolicy = .ifServerRecordUnchanged, name: String? = nil
    ) -> FailureReason? {
        var context = zone.context(of: user, in: scope, policy: policy)
        let state = name.map {
            ZoneState(id: ZoneID(70), key: ZoneKey(database: database, name: $0), createdAt: 0)
        }
        let hasShare = context.sharing.livingShare(named: save.recordName) != nil
        if state != nil || !hasShare {
            context = ShareSaveContext(
                scope: context.scope, zone: state ?? context.zone, sharing: context.sharing, user: user, policy: policy,
                currentTag: hasShare ? context.currentTag : nil, freshSecret: [1], now: 0)
        }
        switch save.plan(in: context, limits: zone.limits) {
        case .success: return nil
        case .failure(let reason): return reason
        }
    }

    @Test func `R-300, R-307: the first save of a zone's share makes it, and allows everybody nothing`() throws {
        var zone = SharedTestZone()
        let save = ShareSave(tag: nil)
        let plan = try save.plan(in: zone.context(of: alice), limits: Limits()).get()
        let changes = try #require(plan.changes(at: 11))
        #expect(plan.current == nil && plan.isChange)
        #expect(changes.insertedShare == Share(number: ShareNumber(11)) && changes.updatedShare == nil)
        #expect(changes.inserted.isEmpty && changes.updated.isEmpty && changes.ended.isEmpty)
        #expect(zone.save(save) == nil && zone.share?.number == ShareNumber(11))
    }

    @Test func `R-300: a share with another name than the zone's is of a hierarchy, which needs a root`() {
        for (zone, reason) in [(SharedTestZone(), FailureReason.shareRootMissing), (sharedZone(), .zoneIsShared)] {
            #expect(plan(ShareSave(recordName: "Share-1", tag: nil), zone) == reason)
        }
        var zone = SharedTestZone()
        zone.limits.servesHierarchies = false
        #expect(plan(ShareSave(recordName: "Share-1", tag: nil), zone) == .hierarchiesUnavailable)
    }

    @Test func `R-305: the default zone and the public database are not shared`() {
        let zone = SharedTestZone()
        #expect(plan(ShareSave(tag: nil), zone, in: .public) == .wrongDatabase)
        #expect(plan(ShareSave(tag: nil), zone, name: ZoneName.default) == .zoneNotShareable)
    }

    @Test func `R-304, R-035: a zone of any encryption scope is shared as a whole`() {
        var zone = SharedTestZone()
        var perZone = zone.context(of: alice).zone
        perZone.encryptionScope = .perZone
        let context = ShareSaveContext(
            scope: .private, zone: perZone, sharing: ZoneSharing(owner: alice), user: alice,
            policy: .ifServerRecordUnchanged, currentTag: nil, freshSecret: [1], now: 0)
        #expect((try? ShareSave(tag: nil).plan(in: context, limits: Limits()).get()) != nil)
        #expect(zone.save(ShareSave(tag: nil)) == nil)
    }

    @Test func `R-304: a second share of a shared zone is refused, and nobody loses access`() {
        var zone = sharedZone()
        let before = zone.sharing
        for policy in SavePolicy.allCases {
            let second = ShareSave(tag: nil, publicPermission: .readOnly, participants: [])
            #expect(zone.save(second, policy: policy) == .recordExists)
            #expect(zone.save(ShareSave(tag: nil, participants: []), policy: policy) == .recordExists)
        }
        #expect(zone.sharing == before && zone.permission(carol) == .read)
    }

    @Test func `R-115: whatever the policy is, participants and permission are saved with the current tag alone`() {
        let zone = sharedZone()
        let saves: [(ChangeTag?) -> ShareSave] = [
            { ShareSave(tag: $0, participants: []) }, { ShareSave(tag: $0, publicPermission: .readWrite) },
        ]
        for policy in SavePolicy.allCases {
            for make in saves {
                #expect(plan(make(nil), zone, policy: policy) == .recordExists)
                #expect(plan(make(zone.tag(at: 1)), zone, policy: policy) == .recordChanged)
                #expect(plan(make(.foreign), zone, policy: policy) == .recordChanged)
                #expect(plan(make(zone.tag), zone, policy: policy) == nil)
            }
        }
    }

    @Test func `R-115, R-099: a save of nothing but fields follows its policy, but makes no share`() throws {
        var zone = sharedZone()
        let old = ShareSave(tag: zone.tag(at: 1))
        #expect(plan(old, zone) == .recordChanged)
        #expect(plan(old, zone, policy: .changedKeys) == nil && plan(old, zone, policy: .allKeys) == nil)
        let decided = try old.plan(in: zone.context(of: bob, policy: .allKeys), limits: Limits()).get()
        #expect(!decided.isChange && decided.changes(at: 99) == nil && decided.current == zone.share)
        zone.endShare()
        for policy in SavePolicy.allCases { #expect(plan(old, zone, policy: policy) == .recordMissing) }
    }

    @Test func `R-313: administrators change a share as its owner does, all others do not`() {
        var zone = sharedZone()
        #expect(zone.invite(reader(dave, &zone), by: bob) == nil)
        #expect(zone.change(public: .readOnly, by: bob) == nil)
        for save in [ShareSave(tag: zone.tag), ShareSave(tag: zone.tag, publicPermission: .readWrite)] {
            #expect(zone.save(save, by: carol) == .notShareAdministrator)
        }
        zone.accept(erin, hasURL: true)
        #expect(zone.save(ShareSave(tag: zone.tag), by: erin) == .notShareAdministrator)
        #expect(zone.change(public: .noAccess) == nil)
        #expect(zone.change(public: .readOnly, by: bob) == .zoneNotFound, "no administrator any more")
    }

    @Test func `R-313, R-139: who may not change a share gets no other news of it`() {
        var zone = sharedZone()
        zone.limits.participantsMax = 1
        for tag in [nil, zone.tag, zone.tag(at: 1), .foreign] as [ChangeTag?] {
            let many = ShareSave(tag: tag, participants: [reader(dave, &zone), reader(erin, &zone)])
            #expect(plan(many, zone, by: carol) == .notShareAdministrator)
        }
        zone.endShare()
        #expect(plan(ShareSave(tag: nil), zone, by: carol) == .zoneNotFound)
    }

    @Test func `I-5, R-322: in the shared database, a zone that is not shared with the user is not there`() {
        var zone = sharedZone()
        zone.invite(reader(dave, &zone))
        for user in [alice, dave, erin] {
            let broken = ShareSave(recordName: "x", tag: .foreign)
            #expect(plan(broken, zone, by: user, in: .shared) == .zoneNotFound)
            #expect(plan(ShareSave(tag: nil), zone, by: user, in: .shared, name: ZoneName.default) == .zoneNotFound)
        }
    }

    @Test func `R-306: who stops sharing and shares the zone again makes another share with the same URL`() throws {
        var zone = sharedZone()
        let first = try #require(zone.share)
        let secret = zone.sharing?.secret
        zone.endShare()
        #expect(zone.share == nil && zone.permission(carol) == [])
        #expect(zone.change() == nil)
        let second = try #require(zone.share)
        #expect(second.number > first.number && secret != nil && zone.sharing?.secret == secret)
        // Participants start anew: there are none.
        #expect(zone.livingRows.isEmpty && zone.permission(bob) == [] && zone.accept(carol) == .shareUnknown)
        zone.invite(reader(carol, &zone))
        #expect(zone.permission(carol) == [] && zone.accept(carol) == nil && zone.permission(carol) == .read)
        #expect(zone.history(carol).intervals.count == 2)
    }

    @Test func `R-326: the end of a share writes one row, whoever takes part`() throws {
        var zone = sharedZone()
        let share = try #require(zone.share)
        let changes = try #require(zone.sharing?.ending(shareNamed: Share.zoneWideName, at: 50))
        #expect(changes.updatedShare?.endedNumber == 50 && changes.share == share.number)
        #expect(changes.inserted.isEmpty && changes.updated.isEmpty && changes.ended.isEmpty)
        zone.endShare()
        #expect(zone.sharing?.ending(shareNamed: Share.zoneWideName, at: 60) == nil, "there is none")
        #expect([bob, carol].allSatisfy { !zone.access($0).isParticipant })
    }

    @Test func `R-114, R-224: a save that says what is so changes nothing`() throws {
        let zone = sharedZone()
        let same = ShareSave(
            tag: zone.tag, publicPermission: .noAccess, participants: zone.livingRows.map(\.saved))
        let plan = try same.plan(in: zone.context(of: alice), limits: Limits()).get()
        #expect(!plan.isChange && plan.changes(at: 99) == nil)
    }

    @Test func `R-328: of ended shares and participants the newest are kept`() {
        var zone = SharedTestZone()
        zone.limits.endedSharesMax = 2
        zone.limits.endedParticipantsMax = 3
        var numbers: [ShareNumber] = []
        for _ in 0..<5 {
            zone.change()
            numbers.append(zone.share?.number ?? ShareNumber(0))
            zone.endShare()
        }
        zone.change()
        let kept = zone.sharing?.shares.keys.filter { numbers.contains($0) }.sorted()
        #expect(kept == Array(numbers.suffix(2)))
        for user in Int64(10)..<20 {
            zone.invite(reader(UserID(user), &zone))
            zone.accept(UserID(user))
            zone.leave(UserID(user))
        }
        zone.invite(reader(bob, &zone))
        let rows = zone.share.flatMap { zone.sharing?.participants[$0.number] } ?? [:]
        let ended = rows.values.filter { $0.status == .removed }
        #expect(Set(ended.compactMap(\.user)) == [UserID(17), UserID(18), UserID(19)])
        #expect(zone.accept(bob) == nil)
    }
}
