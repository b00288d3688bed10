// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain
package import TidemarkPostgres

// How the values of Domain are parameters and columns.

extension AccountID: PostgresNumber {}
extension ContainerID: PostgresNumber {}
extension CredentialID: PostgresNumber {}
extension DatabaseID: PostgresNumber {}
extension OperatorCredentialID: PostgresNumber {}
extension OperatorID: PostgresNumber {}
extension ShareNumber: PostgresNumber {}
extension UserID: PostgresNumber {}
extension ZoneID: PostgresNumber {}

/// A code of a Domain type, kept as `smallint`.
package protocol PostgresCode: PostgresParameter, RawRepresentable where RawValue == Int16 {}

extension PostgresCode {
    package static var postgresType: PostgresType { .int2 }
    package var postgresValue: PostgresValue { .int2(rawValue) }
}

extension ContainerEnvironment: PostgresCode {}
extension DatabaseScope: PostgresCode {}
extension EncryptionMode: PostgresCode {}
extension FieldMarks: PostgresCode {}
extension OperatorRole: PostgresCode {}
extension SharePermission: PostgresCode {}
extension Subscription.Kind: PostgresCode {}
extension ZoneRemovalReason: PostgresCode {}

/// The bits of the number, as PostgreSQL has no numbers without a sign.
extension StoreIncarnation: PostgresParameter, PostgresColumn {
    package static var postgresType: PostgresType { .int8 }
    package var postgresValue: PostgresValue { .int8(Int64(bitPattern: rawValue)) }
    package static func read(_ row: PostgresRow, _ column: Int) throws(PostgresError) -> StoreIncarnation {
        StoreIncarnation(UInt64(bitPattern: try row.int64(column)))
    }
}

extension Timestamp: PostgresScalar {
    package static var postgresType: PostgresType { .timestamptz }
    package var postgresValue: PostgresValue { .timestamp(milliseconds: milliseconds) }
    package static func read(_ row: PostgresRow, _ column: Int) throws(PostgresError) -> Timestamp {
        Timestamp(milliseconds: try row.milliseconds(column))
    }
}

/// 128 bits of a Domain type, kept as `uuid`.
package protocol PostgresUUID: PostgresScalar {
    var high: UInt64 { get }
    var low: UInt64 { get }
    init(high: UInt64, low: UInt64)
}

extension PostgresUUID {
    package static var postgresType: PostgresType { .uuid }
    package var postgresValue: PostgresValue { .uuid(DeviceID(high: high, low: low).bytes) }
    package static func read(_ row: PostgresRow, _ column: Int) throws(PostgresError) -> Self {
        let (high, low) = try row.uuidHalves(column)
        return Self(high: high, low: low)
    }
}

extension ChangeCause: PostgresUUID {}
extension DeviceID: PostgresUUID {}
extension ParticipantID: PostgresUUID {}

/// Remembered requests, as the bytes of one `bytea`.
extension RequestMemory: PostgresParameter, PostgresColumn {
    package static var postgresType: PostgresType { .bytea }
    package var postgresValue: PostgresValue { .bytea(encoded) }
    package static func read(_ row: PostgresRow, _ column: Int) throws(PostgresError) -> RequestMemory {
        guard let memory = RequestMemory(decoding: try row.bytes(column)) else {
            throw PostgresError(.unexpectedResult, detail: "request_memory")
        }
        return memory
    }
}
