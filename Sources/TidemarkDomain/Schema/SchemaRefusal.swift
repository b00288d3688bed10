// SPDX-License-Identifier: Apache-2.0

/// Why a save does not fit a schema, with the names that a developer needs. All of these names are in the request or in
/// the container's own schema.
package enum SchemaRefusal: Error, Sendable, Equatable {
    /// R-012, R-013: the schema is frozen.
    case typeUnknown(type: String)
    /// R-012, R-013: the schema is frozen.
    case fieldUnknown(type: String, key: String)
    /// R-062: the key holds values of type `has`, and the save wants to store one of type `wants`.
    case typeDiffers(type: String, key: String, has: SchemaFieldType, wants: String)
    /// R-067: the stored values of the key are encrypted and those of the save are not, or the other way round.
    case spaceDiffers(type: String, key: String, isEncrypted: Bool)
    /// ``Limits/schemaEntriesMax``.
    case full(type: String, entriesMax: Int)
    /// ``Limits/schemaEntriesPerUserMax``.
    case taughtEnough(type: String, entriesMax: Int)

    package var reason: FailureReason {
        switch self {
        case .typeUnknown: .typeUnknown
        case .fieldUnknown: .fieldUnknown
        case .typeDiffers: .fieldTypeDiffers
        case .spaceDiffers: .fieldSpaceDiffers
        case .full, .taughtEnough: .schemaFull
        }
    }

    /// One sentence or two for a developer. CloudKit's own words come first, because people search for them.
    package var text: String {
        switch self {
        case .typeUnknown(let type):
            "Cannot create new type \(type) in production schema. Add it to the schema and promote that first."
        case .fieldUnknown(let type, let key):
            "Cannot create or modify field '\(key)' in record '\(type)' in production schema. "
                + "Add it to the schema and promote that first."
        case .typeDiffers(let type, let key, let has, let wants):
            "Invalid value for field '\(key)' of record type '\(type)': it holds \(has.name), the save has \(wants). "
                + "Save the type that it holds, or use another key."
        case .spaceDiffers(let type, let key, let isEncrypted):
            "Field '\(key)' of record type '\(type)' is \(isEncrypted ? "encrypted" : "not encrypted"). "
                + "Set it \(isEncrypted ? "in encryptedValues" : "on the record itself"), or use another key."
        case .full(let type, let entriesMax):
            "The schema cannot have more types and fields (\(entriesMax)): nothing new of '\(type)' is added. "
                + "Use fewer keys, or remove what is not used from the schema."
        case .taughtEnough(let type, let entriesMax):
            "One account cannot add more types and fields by its saves (\(entriesMax)): nothing new of '\(type)' is "
                + "added. Use fewer keys, or import the schema (tidemark admin schema import)."
        }
    }
}
