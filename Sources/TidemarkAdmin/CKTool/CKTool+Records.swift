// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import Foundation
internal import TidemarkAssets
internal import TidemarkBytes
internal import TidemarkDomain
internal import TidemarkFields
internal import TidemarkService
internal import TidemarkStore

extension CKTool {
    struct CreateRecord: CKToolStoreCommand {
        static let right = CKToolRight.user(mayChange: true)
        static let configuration = CommandConfiguration(
            commandName: "create-record", abstract: "Create a record, and write it.",
            discussion: """
                Fields are JSON: {"title": {"type": "stringType", "value": "Kim"}}. The value of an assetType is a key of \
                --asset-files. Over a database, servers and this command have one directory of assets: \
                TIDEMARK_ASSET_DIRECTORY.
                """)

        @OptionGroup var access: CKToolAccess
        @OptionGroup var container: CKToolContainer
        @OptionGroup var zone: CKToolZone
        @Option(name: .customLong("record-type"), help: ArgumentHelp("The record's type.", valueName: "type"))
        var recordType: String
        @Option(name: .customLong("fields-file"), help: ArgumentHelp("A file with the fields.", valueName: "file"))
        var fieldsFile: String?
        @Option(name: .customLong("fields-json"), help: ArgumentHelp("The fields.", valueName: "json"))
        var fieldsJSON: String?
        @Flag(name: .customLong("fields-stdin"), help: "The fields come on standard input.") var fieldsStdin = false
        @Option(
            name: .customLong("asset-files"), parsing: .upToNextOption,
            help: ArgumentHelp("Files by the keys that fields name.", valueName: "key=path"))
        var assetFiles: [String] = []

        func validate() throws {
            guard [fieldsFile != nil, fieldsJSON != nil, fieldsStdin].count(where: { $0 }) <= 1 else {
                throw ValidationError("Give one of --fields-json, --fields-file and --fields-stdin.")
            }
        }

        var place: CKToolPlace? { container.place }

        func words(_ program: CKToolProgram) -> CKToolWords {
            var words = CKToolWords("create-record", in: container, zone)
            words.add("--record-type", recordType)
            if let fieldsJSON { words.add("--fields-json", fieldsJSON) }
            if let fieldsFile { words.add("--fields-file", file: program.path(fieldsFile)) }
            if fieldsStdin { words.addInput(flag: "--fields-stdin") }
            for file in assetFiles { words.add(assetFile: file, program) }
            return words
        }

        func run(_ program: CKToolProgram) async throws {
            let user = try program.userCredential(access.token)
            let fields: CKToolFields
            do throws(InputMistake) {
                fields = try CKToolFields(parsing: try text(program))
            } catch {
                throw AdminFailure(.usage, error.text)
            }
            let assets = try CKToolAssets(assetFiles)
            let store = fields.fileKeys.isEmpty ? nil : try program.assetStore()
            defer { store?.stop() }
            try await program.withConsole(container.place) { console in
                try await CKToolSession.with(user, zone, on: console, assets: store) { session in
                    let files = try await Self.upload(fields.fileKeys, of: assets, program, session)
                    let map = try Self.fieldMap(fields, files, program)
                    let match = try await session.create(
                        recordType, named: UUID().uuidString, map, emptyLists: fields.emptyLists)
                    let output = try await session.outputs([match], nil).first ?? OutputValue.none
                    try await console.write(CKToolJSONText.text(output))
                }
            }
        }

        private func text(_ program: CKToolProgram) throws(InputMistake) -> String {
            do throws(AdminFailure) {
                if let fieldsJSON { return fieldsJSON }
                if let fieldsFile { return try program.text(ofFile: fieldsFile) }
                return fieldsStdin ? try program.textOfInput() : "{}"
            } catch {
                throw InputMistake(error.description)
            }
        }

        private static func fieldMap(
            _ fields: CKToolFields, _ files: [String: FieldAsset], _ program: CKToolProgram
        ) throws(AdminFailure) -> FieldMap {
            do throws(InputMistake) {
                return try fields.fieldMap(files: files, in: program.values.timeZone)
            } catch {
                throw AdminFailure(.usage, error.text)
            }
        }

        private static func upload(
            _ keys: [String], of assets: CKToolAssets, _ program: CKToolProgram, _ session: CKToolSession
        ) async throws -> [String: FieldAsset] {
            var files: [String: FieldAsset] = [:]
            for key in keys {
                if let path = assets.paths[key] {
                    files[key] = try await session.upload(try program.terminal.open(program.path(path)))
                }
            }
            return files
        }
    }

    struct QueryRecords: CKToolStoreCommand {
        static let right = CKToolRight.user(mayChange: false)
        static let configuration = CommandConfiguration(
            commandName: "query-records", abstract: "Write the records that filters find.",
            discussion: CKToolSearch.discussion)

        @OptionGroup var access: CKToolAccess
        @OptionGroup var container: CKToolContainer
        @OptionGroup var zone: CKToolZone
        @OptionGroup var search: CKToolSearch
        @Option(
            name: .customLong("sort-by"), parsing: .upToNextOption,
            help: ArgumentHelp("Orders: \"FIELD\", \"FIELD ASC\" or \"FIELD DESC\".", valueName: "order"))
        var sortBy: [String] = []
        @Option(
            name: .customLong("requested-fields"), parsing: .upToNextOption,
            help: ArgumentHelp("The fields to write. Default: all.", valueName: "field"))
        var requestedFields: [String] = []
        @Option(help: "The most records.") var limit = 200
        @Option(
            name: .customLong("continuation-token"),
            help: ArgumentHelp("Of the answer before, with the same query.", valueName: "token"))
        var continuationToken: String?

        func validate() throws {
            guard (1...Self.limitMax).contains(limit) else {
                throw ValidationError("--limit is between 1 and \(Self.limitMax), not \(limit).")
            }
        }

        private static let limitMax = 100_000

        var place: CKToolPlace? { container.place }

        func words(_ program: CKToolProgram) -> CKToolWords {
            var words = CKToolWords("query-records", in: container, zone)
            words.add(search)
            words.add("--sort-by", sortBy)
            words.add("--requested-fields", requestedFields)
            words.add("--limit", "\(limit)")
            if let continuationToken { words.add("--continuation-token", continuationToken) }
            return words
        }

        func run(_ program: CKToolProgram) async throws {
            let user = try program.userCredential(access.token)
            let wanted = try search.search(program.values, sortBy: sortBy)
            guard let cursor = Base64.decodeURLSafe(continuationToken ?? "") else {
                throw AdminFailure(.usage, "This is no continuation token of query-records.")
            }
            try await program.withConsole(container.place) { console in
                try await CKToolSession.with(user, zone, on: console) { session in
                    let keys = requestedFields.isEmpty ? nil : requestedFields
                    var text = CKToolRecordsText()
                    let next = try await session.eachPage(of: wanted, limit: limit, after: cursor) { matches in
                        if let part = text.add(try await session.outputs(matches, keys)) {
                            try await console.write(part)
                        }
                    }
                    try await console.write(text.end(continuationToken: next.map { Base64.encodeURLSafe($0) }))
                }
                if container.environment == .development { try await console.store.buildMissingIndexes() }
            }
        }
    }

    struct DeleteRecord: CKToolStoreCommand {
        static let right = CKToolRight.user(mayChange: true)
        static let configuration = CommandConfiguration(
            commandName: "delete-record", abstract: "Delete a record.")

        @OptionGroup var access: CKToolAccess
        @OptionGroup var container: CKToolContainer
        @OptionGroup var zone: CKToolZone
        @Option(name: .customLong("record-name"), help: ArgumentHelp("The record's name.", valueName: "name"))
        var recordName: String
        @Flag(name: .shortAndLong, help: "Delete it without asking.") var yes = false

        var place: CKToolPlace? { container.place }

        func words(_ program: CKToolProgram) -> CKToolWords {
            var words = CKToolWords("delete-record", in: container, zone)
            words.add("--record-name", recordName)
            words.add(flag: "--yes", if: yes)
            return words
        }

        func run(_ program: CKToolProgram) async throws {
            let user = try program.userCredential(access.token)
            try await program.withConsole(container.place, isConfirmed: yes) { console in
                try await CKToolSession.with(user, zone, on: console) { session in
                    let lookup = try await session.service.records(
                        named: [recordName], in: session.zone, by: session.access
                    ).mapError { AdminFailure($0) }.get()
                    guard case .success? = lookup.records.first else {
                        throw AdminFailure(.refused, "There is no record \(recordName) in \(zone.zoneName).")
                    }
                    try await console.confirm(
                        "delete the record \(recordName)",
                        loss: "Records that refer to it with deleteSelf go too.")
                    if let failure = try await session.delete([recordName], counter: 1).failures.first { throw failure }
                }
            }
        }
    }

    struct DeleteRecords: CKToolStoreCommand {
        static let right = CKToolRight.user(mayChange: true)
        static let configuration = CommandConfiguration(
            commandName: "delete-records", abstract: "Delete the records that filters find.",
            discussion: CKToolSearch.discussion)

        @OptionGroup var access: CKToolAccess
        @OptionGroup var container: CKToolContainer
        @OptionGroup var zone: CKToolZone
        @OptionGroup var search: CKToolSearch
        @Option(
            name: .customLong("dry-run"),
            help: ArgumentHelp("true: only say how many there are. false: delete them.", valueName: "true|false"))
        var dryRun = true
        @Flag(name: .shortAndLong, help: "Delete them without asking.") var yes = false

        var place: CKToolPlace? { container.place }

        func words(_ program: CKToolProgram) -> CKToolWords {
            var words = CKToolWords("delete-records", in: container, zone)
            words.add(search)
            words.add("--dry-run", "\(dryRun)")
            words.add(flag: "--yes", if: yes)
            return words
        }

        func run(_ program: CKToolProgram) async throws {
            let user = try program.userCredential(access.token)
            let wanted = try search.search(program.values, sortBy: [])
            try await program.withConsole(container.place, isConfirmed: yes) { console in
                try await CKToolSession.with(user, zone, on: console) { session in
                    var count = 0
                    try await Self.eachPage(wanted, session) { count += $0.count }
                    guard !dryRun else {
                        return try await console.write("Dry run. Found \(count) matching records to delete.\n")
                    }
                    if count > 0 {
                        try await console.confirm(
                            "delete \(Amount.records(count)) of the type \(wanted.recordType)",
                            loss: "Records that refer to them with deleteSelf go too.")
                    }
                    try await Self.delete(wanted, session, console)
                }
                if container.environment == .development { try await console.store.buildMissingIndexes() }
            }
        }

        /// Names of the records, page by page: a page fits in one request.
        private static func eachPage(
            _ search: CKToolSession.Search, _ session: CKToolSession, _ body: ([String]) async throws -> Void
        ) async throws {
            _ = try await session.eachPage(of: search, limit: .max) { matches in
                if !matches.isEmpty { try await body(matches.map(\.record.name)) }
            }
        }

        private static func delete(
            _ search: CKToolSession.Search, _ session: CKToolSession, _ console: Console
        ) async throws {
            var (count, counter, failures) = (0, UInt64(0), 0)
            try await eachPage(search, session) { names in
                counter += 1
                let done = try await session.delete(names, counter: counter)
                count += done.deletedCount
                failures += done.failures.count
                for failure in done.failures { console.say("\(failure)") }
            }
            try await console.write("Deleted \(count) records.\n")
            if failures > 0 { throw AdminFailure(.failedCheck, "\(Amount.records(failures)) could not be deleted.") }
        }
    }
}

/// What a query looks for.
struct CKToolSearch: ParsableArguments, Sendable {
    @Option(name: .customLong("record-type"), help: ArgumentHelp("The type of the records.", valueName: "type"))
    var recordType: String?

    @Option(
        parsing: .upToNextOption,
        help: ArgumentHelp("Conditions that all hold: \"FIELD OPERATOR VALUE\".", valueName: "filter"))
    var filters: [String] = []

    static let discussion = """
        A filter is "FIELD OPERATOR VALUE": "pageCount > 100", "title == stringType:1984", "place NEAR 64.1,-21.9". Operators \
        are == != < <= > >= (or EQUALS and so on), NEAR, CONTAINS_ALL_TOKENS, CONTAINS_ANY_TOKENS, LIST_CONTAINS_ANY and \
        LIST_NOT_CONTAINS_ANY. Without filters, recordName must be queryable.
        """

    func search(
        _ values: CKToolValueReader, sortBy: [String]
    ) throws(AdminFailure) -> CKToolSession.Search {
        guard let recordType else {
            throw AdminFailure(.usage, "Missing --record-type: give the type of the records.")
        }
        do throws(InputMistake) {
            var conditions: [CKToolFilter] = []
            for text in filters { conditions.append(try CKToolFilter(parsing: text, values)) }
            var sorts: [QuerySort] = []
            for text in sortBy { sorts.append(try CKToolSort.sort(parsing: text)) }
            return CKToolSession.Search(recordType: recordType, filters: conditions, sorts: sorts)
        } catch {
            throw AdminFailure(.usage, error.text)
        }
    }
}
