// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkFairness
internal import TidemarkFields

/// The result of checking the saves of a group against the remembered schemas.
enum SchemaCheck {
    /// Everything is known. Saves that do not fit are marked. They fail as items of their requests, so that batches
    /// stay atomic and outcomes are remembered. Requests to the public database have their grants and
    /// roles, and those to the shared database what the zone's shares allow.
    case checked([WriteQueue.Entry])
    /// These schemas are not remembered, or not in the version that the transaction saw, or seem full. Others may have
    /// added the missing types, which does not change the version.
    case unknown(Set<ContainerID>)
    /// These must be learned first. `teachers`: how many types and fields come from whom.
    case teaches([ContainerID: SchemaLesson], teachers: [SchemaTeacher: Int])

    /// - Parameters:
    ///   - snapshots: of all zones of the entries, with the schema stamps that hold for them.
    ///   - isFresh: whether the schemas were read again for these entries.
    ///   - taught: the number of types and fields added before, by teacher.
    init(
        _ entries: [WriteQueue.Entry], snapshots: [ZoneSnapshot], schemas: [ContainerID: KnownSchema],
        isFresh: Bool = false, taught: [SchemaTeacher: Int] = [:], limits: Limits
    ) {
        let known = KnownForCheck(snapshots, schemas)
        guard known.unknown.isEmpty else {
            self = .unknown(known.unknown)
            return
        }
        let resharing = Self.resharing(entries)
        var reading = Reading(limits: limits, taught: taught)
        var checked = entries
        for (index, entry) in entries.enumerated() {
            guard let schema = known.schema(of: entry, in: schemas) else { continue }
            let access = known.access(of: entry.request, by: schema)
            // An earlier request of the group may allow a participant more. The data that the participant saves must
            // then be known.
            let mayGain = access.scope == .shared && access.share != nil && resharing.contains(entry.key)
            let refusals = reading.refusals(
                of: entry.request, from: entry.owner, with: access, mayGain: mayGain,
                over: known.records[entry.key] ?? [:], by: schema)
            if access.scope != .private || !refusals.isEmpty {
                checked[index].request = entry.request.with(access: access, refusals: refusals)
            }
        }
        guard isFresh || reading.full.isEmpty else {
            self = .unknown(reading.full)
            return
        }
        self = reading.lessons.isEmpty ? .checked(checked) : .teaches(reading.lessons, teachers: reading.teachers)
    }

    /// The zones whose shares a group changes, if it has saves of participants.
    private static func resharing(_ entries: [WriteQueue.Entry]) -> Set<ZoneKey> {
        guard entries.contains(where: { $0.request.access.scope == .shared }) else { return [] }
        return Set(entries.filter(\.request.savesShare).map(\.key))
    }

    /// The data in the snapshots of a group's zones, by zone and by database.
    private struct KnownForCheck {
        private var stamps: [DatabaseID: SchemaStamp] = [:]
        private(set) var records: [ZoneKey: [String: RecordState]] = [:]
        private var roles: [UserID: Set<Role>] = [:]
        private var shares: [ZoneKey: ZoneSharing] = [:]
        /// Schemas that are not remembered in the version of the snapshots.
        private(set) var unknown: Set<ContainerID> = []

        init(_ snapshots: [ZoneSnapshot], _ schemas: [ContainerID: KnownSchema]) {
            for snapshot in snapshots {
                guard let stamp = snapshot.schema else { continue }
                stamps[snapshot.key.database] = stamp
                records[snapshot.key] = snapshot.records
                roles.merge(snapshot.roles) { $1 }
                shares[snapshot.key] = snapshot.sharing
                if schemas[stamp.container]?.schema.version != stamp.version { unknown.insert(stamp.container) }
            }
        }

        func schema(of entry: WriteQueue.Entry, in schemas: [ContainerID: KnownSchema]) -> KnownSchema? {
            stamps[entry.key.database].flatMap { schemas[$0.container] }
        }

        /// The caller's access, with the grants and roles of the public database, or with the zone's shares.
        func access(of request: RecordsRequest, by schema: KnownSchema) -> RecordAccess {
            var access = request.access
            switch access.scope {
            case .private: break
            case .public:
                access.grants = schema.grants
                access.roles = roles[request.user] ?? []
            case .shared:
                // Without access nothing is allowed, so that nothing is taught either.
                access = access.sharing(shares[request.key]) ?? access
            }
            return access
        }
    }

    private struct Reading {
        let limits: Limits
        let taught: [SchemaTeacher: Int]
        var lessons: [ContainerID: SchemaLesson] = [:]
        /// The types and fields of each lesson.
        private var lessonCounts: [ContainerID: Int] = [:]
        var teachers: [SchemaTeacher: Int] = [:]
        /// Schemas that cannot take something.
        var full: Set<ContainerID> = []

        init(limits: Limits, taught: [SchemaTeacher: Int]) {
            self.limits = limits
            self.taught = taught
        }

        /// By the positions of the saves. Usually empty.
        ///
        /// - Parameter mayGain: whether more may be allowed than `access` says, once the request is decided.
        mutating func refusals(
            of request: RecordsRequest, from owner: WorkOwner, with access: RecordAccess,
            mayGain: Bool, over records: [String: RecordState], by schema: KnownSchema
        ) -> [(save: Int, refusal: SchemaRefusal)] {
            var shapes: FieldShapes?
            var refusals: [(save: Int, refusal: SchemaRefusal)] = []
            for (index, save) in request.saves.enumerated() {
                // NB: looked up once for all neighbours of one type.
                if index == 0 || save.type != request.saves[index - 1].type { shapes = schema.shapes[save.type] }
                if shapes?.cover(save.fields) == true { continue }
                switch schema.schema.verdict(onSaving: save.fields, type: save.type) {
                case .fits: continue
                case .refused(let refusal): refusals.append((index, refusal))
                case .teaches(let lesson):
                    // A save that fails in any case teaches nothing.
                    guard save.refusal(within: limits) == nil,
                        mayGain || access.mayTry(save, over: records[save.name])
                    else { continue }
                    if let refusal = add(lesson, of: request.user, owner, type: save.type, to: schema) {
                        refusals.append((index, refusal))
                    }
                }
            }
            return refusals
        }

        /// - Returns: why the user cannot teach this; nil if they can.
        private mutating func add(
            _ lesson: SchemaLesson, of user: UserID, _ owner: WorkOwner, type: String, to known: KnownSchema
        ) -> SchemaRefusal? {
            let container = known.schema.container
            let count = lessons[container, default: SchemaLesson()].newEntryCount(of: lesson)
            let sum = lessonCounts[container, default: 0] + count
            guard known.entryCount + sum <= limits.schemaEntriesMax else {
                full.insert(container)
                return .full(type: type, entriesMax: limits.schemaEntriesMax)
            }
            let bounds: [(SchemaTeacher, Int)] = [
                (.user(user), limits.schemaEntriesPerUserMax), (.owner(owner), limits.schemaEntriesPerAccountMax),
            ]
            for (teacher, most) in bounds where (taught[teacher] ?? 0) + (teachers[teacher] ?? 0) + count > most {
                full.insert(container)
                return .taughtEnough(type: type, entriesMax: most)
            }
            lessons[container, default: SchemaLesson()].merge(lesson)
            lessonCounts[container] = sum
            for (teacher, _) in bounds { teachers[teacher, default: 0] += count }
            return nil
        }
    }
}

extension RecordAccess {
    /// Whether the user's roles allow this save over the current record.
    fileprivate func mayTry(_ save: RecordSave, over current: RecordState?) -> Bool {
        guard let current, !current.isDeleted else {
            return mayCreate(save)
        }
        return effectivePermission(on: RecordPlace(of: current)).contains(.write)
    }
}

/// The teacher of a schema: a user of one container, and the account of that user.
enum SchemaTeacher: Hashable {
    case user(UserID)
    case owner(WorkOwner)
}
