// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TidemarkFields
internal import TidemarkTelemetry
internal import TidemarkWire

/// Encrypted values. They are encrypted just before they are sent, and decrypted just after they arrive. A
/// record without any costs a look at its fields.
extension CloudDatabase {
    private static let encryptionLog = Log("encryption")

    // MARK: Saving

    /// Encrypts the encrypted values of each save.
    ///
    /// - Returns: saves that cannot be encrypted; they are removed from `saves`.
    /// - Throws: errors that do not concern a single record.
    func seal(_ saves: inout [Save]) async throws(CKError) -> [(Save, CKError)] {
        let places = saves.indices.filter { saves[$0].changes.fields.hasEncryptedValues }
        guard !places.isEmpty else { return [] }
        var failures: [Int: CKError] = [:]
        //
        if scope == .public {
            for place in places {
                failures[place] = CKError(
                    .invalidArguments,
                    message: "The public database has no encrypted values. Save them in the private database.")
            }
        } else {
            failures = try await seal(&saves, at: places)
        }
        let failed = failures.sorted { $0.key < $1.key }.map { (saves[$0.key], $0.value) }
        if !failed.isEmpty { saves = saves.indices.filter { failures[$0] == nil }.map { saves[$0] } }
        return failed
    }

    private func seal(_ saves: inout [Save], at places: [Int]) async throws(CKError) -> [Int: CKError] {
        var failures: [Int: CKError] = [:]
        let zoneIDs = places.map { saves[$0].copy.recordID.zoneID }.grouped { $0 }.map(\.key)
        let secrets: [CKRecordZone.ID: Result<ZoneSecret, CKError>]
        do throws(CKError) {
            secrets = try await sealingSecrets(of: zoneIDs)
        } catch {
            guard concernsKeysAlone(error) else { throw error }
            for place in places { failures[place] = error.ofMissingKeys }
            return failures
        }
        for place in places {
            let record = saves[place].copy
            let secret: ZoneSecret
            switch secrets[record.recordID.zoneID] ?? .failure(Self.wrongAnswer(to: .fetchKeys)) {
            case .success(let found): secret = found
            case .failure(let error):
                failures[place] = error.ofMissingKeys
                continue
            }
            do {
                let cipher = ValueCipher(container: keys.container, recordID: record.recordID)
                saves[place].fields = try cipher.seal(saves[place].changes.fields, with: secret, keys: record.keyRule)
            } catch {
                //
                failures[place] = CKError(
                    .limitExceeded,
                    message:
                        "record too large: once they are encrypted, its fields have more than "
                        + "\(FieldLimits.standard.byteCountMax) bytes. Keep large data in an asset.")
            }
        }
        return failures
    }

    /// Whether a request for keys failed for a reason that holds up what needs keys, and nothing else.
    ///
    /// The keys of a zone of another depend on its owner's account too. So a failure says nothing of records without
    /// encrypted values: they go, and the others stay pending.
    func concernsKeysAlone(_ error: CKError) -> Bool {
        if error.isAboutKeys { return true }
        guard scope == .shared, !error.isGreetingRefused else { return false }
        return error.code == .serviceUnavailable || error.code == .zoneBusy
    }

    // MARK: Fetching

    typealias FetchedRecord = (id: CKRecord.ID, result: Result<CKRecord, CKError>)

    /// Decrypts the values of records that nobody has seen yet.
    ///
    /// - Parameter missing: what happens to a record that cannot be decrypted. With `leaveOut`, a failure that an
    ///   import of the recovery key or another server may still fix ends the call. So no token moves past it (I-2).
    /// - Returns: the results, with a failure instead of each record that cannot be decrypted.
    /// - Throws: errors that do not concern a single record: the network, the account.
    func unsealed(
        _ results: [FetchedRecord], missing: MissingAssets = .failRecord
    ) async throws(CKError) -> [FetchedRecord] {
        await grantQuietly(after: results)
        var zoneIDs: [CKRecordZone.ID] = []
        var hasEncrypted = false
        for result in results {
            guard case .success(let record) = result.result, record.hasSealedValues else { continue }
            hasEncrypted = true
            guard !zoneIDs.contains(record.recordID.zoneID), let ids = record.originalFields.sealingKeyIDs,
                keys.missing(among: ids, of: record.recordID.zoneID)
            else { continue }
            zoneIDs.append(record.recordID.zoneID)
        }
        guard hasEncrypted else { return results }
        var failures: [CKRecordZone.ID: CKError] = [:]
        if !zoneIDs.isEmpty {
            do throws(CKError) {
                failures = try await fetchKeys(of: zoneIDs)
            } catch {
                guard error.isAboutKeys, missing == .failRecord else { throw error.ofOneZone }
                for zoneID in zoneIDs { failures[zoneID] = error }
            }
            if missing == .leaveOut, let failure = failures.values.first(where: { !isLasting($0) }) {
                throw failure.ofOneZone
            }
        }
        return results.map { result in
            guard case .success(let record) = result.result, record.hasSealedValues else { return result }
            return (result.id, open(record, failures[record.recordID.zoneID]))
        }
    }

    /// Whether the keys of a zone that is shared by others are not to be had, whatever this device does: an account of
    /// either side is end-to-end encrypted. Records without encrypted values are told all the same.
    private func isLasting(_ failure: CKError) -> Bool {
        scope == .shared && failure.code == .serverRejectedRequest
    }

    /// Decrypts one record, in place.
    ///
    /// - Parameter failure: why the keys of its zone are not available, if they are not.
    private func open(_ record: CKRecord, _ failure: CKError?) -> Result<CKRecord, CKError> {
        let cipher = ValueCipher(container: keys.container, recordID: record.recordID)
        do throws(ValueCipher.Trouble) {
            record.replaceOriginal(
                try cipher.open(record.originalFields, keys: record.keyRule) {
                    self.keys.secrets($0, of: record.recordID.zoneID)
                })
            return .success(record)
        } catch {
            switch error {
            case .keyMissing:
                if let failure { return .failure(failure) }
                Self.encryptionLog.warning(
                    "a record is encrypted with a key that is lost", ["zone": record.recordID.zoneID.zoneName])
                return .failure(
                    CKError(
                        .internalError,
                        message: "Encrypted values of \(record.recordID.recordName) cannot be decrypted: the zone does "
                            + "not have their key (any more). Save the values again from a device that has them.",
                        userInfo: [CKError.unreadableKey: true]))
            case .damaged(let key):
                Self.encryptionLog.warning(
                    "an encrypted value is damaged", ["zone": record.recordID.zoneID.zoneName, "key": key])
                return .failure(
                    CKError(
                        .internalError,
                        message: "Encrypted values of \(record.recordID.recordName) cannot be decrypted: \(key) was "
                            + "changed, or put in another place. Save the values again from a device that has them.",
                        userInfo: [CKError.unreadableKey: true]))
            }
        }
    }

    /// Decrypts the server's records in conflicts. It does not throw, because the save has been decided.
    func unsealConflicts(_ results: inout RecordResults) async {
        var conflicts: [FetchedRecord] = []
        for (id, result) in results.saves {
            guard case .failure(let error) = result, let server = error.serverRecord, server.hasSealedValues else {
                continue
            }
            conflicts.append((id, .success(server)))
        }
        guard !conflicts.isEmpty else { return }
        do throws(CKError) {
            for (id, result) in try await unsealed(conflicts) {
                // Decrypted in place, in the error.
                if case .failure(let error) = result { results.saves[id] = .failure(error.ofConflict) }
            }
        } catch {
            for (id, _) in conflicts { results.saves[id] = .failure(error) }
        }
    }
}

extension CKRecord {
    /// The keys that its fields may have.
    var keyRule: FieldKeyRule { recordType == SystemType.share ? .share : .app }

    /// Valid only for a record as it arrived.
    fileprivate var hasSealedValues: Bool { originalFields.hasEncryptedValues }
}

extension CKError {
    /// Whether the error says that keys are not available, rather than that nothing is.
    var isAboutKeys: Bool {
        if isGreetingRefused { return false }
        return switch code {
        case .accountTemporarilyUnavailable: !isCredentialRefused
        case .serverRejectedRequest, .internalError, .incompatibleVersion, .invalidArguments, .limitExceeded,
            .badDatabase, .permissionFailure, .zoneNotFound, .userDeletedZone:
            true
        default: false
        }
    }

    /// The error as the failure of one zone's fetch, which must not hold up other zones. A code that concerns the whole
    /// account would do so.
    fileprivate var ofOneZone: CKError {
        guard
            code == .accountTemporarilyUnavailable && !isCredentialRefused
                || code == .incompatibleVersion && !isGreetingRefused
        else { return self }
        return CKError(
            .internalError, message: localizedDescription, userInfo: [NSUnderlyingErrorKey: self as NSError])
    }

    /// Marks the error of a record that this app cannot read, whenever it tries.
    static let unreadableKey = "TidemarkRecordUnreadable"

    /// The error of a save that met a record that cannot be read. To save again would meet it again, so the item ends.
    var ofConflict: CKError {
        if hasKeysToCome { return CKError(codeOfSave, userInfo: userInfo) }
        guard userInfo[Self.unreadableKey] != nil else { return self }
        return CKError(
            .serverRejectedRequest, message: localizedDescription, userInfo: [NSUnderlyingErrorKey: self as NSError])
    }

    private static let keysToComeKey = "TidemarkKeysToCome"

    /// Marks the error of a zone whose newest key this device does not have, and may be given: by a URL, or by a device of the owner.
    var ofKeysToCome: CKError { CKError(code, userInfo: userInfo.merging([Self.keysToComeKey: true]) { $1 }) }

    private var hasKeysToCome: Bool { userInfo[Self.keysToComeKey] != nil }

    /// a change that only needs a key waits for it, as for the recovery key.
    private var codeOfSave: Code { hasKeysToCome ? .accountTemporarilyUnavailable : code }

    private static let missingKeysKey = "TidemarkKeysMissing"

    /// The error of a record that is not sent, because its keys cannot be had.
    var ofMissingKeys: CKError { CKError(codeOfSave, userInfo: userInfo.merging([Self.missingKeysKey: true]) { $1 }) }

    /// Whether the record was not sent, because its keys cannot be had. Nothing of it can have been carried out, and the
    /// error says nothing of other records.
    var isOfMissingKeys: Bool { userInfo[Self.missingKeysKey] != nil }

    /// Marks the error of a zone whose newest key, as the server says, is one that this device knows to be older.
    static let olderKeyKey = "TidemarkOlderKey"

    static let zoneKeyUnknownKey = "TidemarkZoneKeyUnknown"

    /// Whether values were encrypted with a key that the zone does not have, or no longer has.
    var isZoneKeyUnknown: Bool { userInfo[Self.zoneKeyUnknownKey] as? Bool == true }
}
