// SPDX-License-Identifier: Apache-2.0

extension FailureReason {
    /// One or two sentences for a developer: what is wrong, and what to do about it.
    ///
    /// The text is fixed: it holds no user data (I-5), and it can be counted and searched. Where CloudKit's own words
    /// are known, they come first, because people search for them.
    package var text: String {
        switch self {
        case .zoneNotFound:
            "Zone not found. Save the zone first, or drop your copy of it."
        case .zonePurged:
            "The user purged the zone, which deleted its data. Ask the user before you upload it again."
        case .zoneKeysReset:
            "Zone not found: its encrypted data was reset. Create the zone again and upload what you have."
        case .recordExists:
            "record to insert already exists. Merge with the server's record, which has the tag, and save that."
        case .recordChanged:
            "client oplock error updating record. Merge with the server's record and save that."
        case .recordMissing:
            "recordChangeTag specified, but record not found. It was deleted: save a new record, or drop yours."
        case .recordUnknown:
            "Record not found. It was deleted or never saved. Save it as a new record, or drop your copy."
        case .recordTypeChanged:
            "The record exists with another type. A record's type never changes: use another record name."
        case .itemRepeated:
            "You can't save or delete the same item twice in one request. Send the second change in another request."
        case .recordNameInvalid:
            "Invalid record name. Use 1 to 255 printable ASCII characters, the first of them not an underscore."
        case .recordTypeInvalid:
            "Invalid record type. Use a letter followed by letters, digits and underscores, and no built-in type."
        case .fieldsInvalid:
            "Invalid fields. Check keys (a letter, then letters, digits and underscores) and the types of the values."
        case .recordTooLarge:
            "record too large. Keep large data in an asset."
        case .parentMissing:
            "The parent record does not exist. Save it before its children or in the same request."
        case .parentCycle:
            "A record cannot be its own ancestor. Choose another parent."
        case .stillParent:
            "The record is the parent of others. Delete or move them first, or in the same request."
        case .referenceElsewhere:
            "A reference points to another zone. Refer to records of the same zone, or keep the other's name as a string."
        case .tooManyReferences:
            "Too many references with the action deleteSelf to one record. Use the action none, or have the operator raise "
                + "the limit: tidemark admin containers set-limit."
        case .tooManyTargets:
            "The record has too many references with the action deleteSelf. Use the action none, or divide it into several "
                + "records."
        case .cascadeTooLarge:
            """
            The records that your request deletes have too many references or children together. Delete fewer at once, or \
            delete some of those first.
            """
        default: schemaText
        }
    }

    /// Replaces the text of ``publicShareFull`` for a user who changes a record of another account.
    static let publicShareOfCreatorText =
        "The record counts for the account that created it, whose share of the public database is full. Save what takes no more "
        + "room, or have the operator raise the share: tidemark admin containers set-quota --public-share-megabytes."

    /// Replaces the text of a missing right in a zone that is shared with the user.
    static let readOnlyText =
        "WRITE operation not permitted. The share lets this user only read. Its owner can grant readWrite."

    /// The text; for a limit with the numbers: how many are allowed, and how many there are.
    ///
    /// - Parameter count: how many there are; nil if that is not known.
    package func text(within limits: Limits, count: Int64? = nil) -> String {
        guard let (most, unit) = most(in: limits) else { return text }
        let has = count.map { ", and this has \($0)" } ?? ""
        return "\(text) The limit is \(most) \(unit)\(has)."
    }

    /// The limit that was passed; nil if the reason is not a limit.
    private func most(in limits: Limits) -> (Int64, unit: String)? {
        switch self {
        case .recordTooLarge: (Int64(limits.recordBytesMax), "bytes of fields per record")
        case .assetTooLarge: (limits.assetBytesMax, "bytes per asset")
        case .tooManyItems: (Int64(limits.itemsMax), "items per request")
        case .requestTooLarge: (Int64(limits.requestBytesMax), "bytes of fields per request")
        case .tooMuchStored: (Int64(limits.storedBytesMax), "stored bytes per request")
        case .tooManyReferences: (Int64(limits.referencesMax), "references per record")
        case .tooManyTargets: (Int64(limits.targetsMax), "references with the action deleteSelf in a record")
        case .cascadeTooLarge: (Int64(limits.cascadeReferencesMax), "references or children per deletion")
        case .tooManyZones: (Int64(limits.zonesMax), "zones per database")
        case .tooManyAccountZones: (Int64(limits.accountZonesMax), "zones of an account in all containers")
        case .tooManySubscriptions: (Int64(limits.subscriptionsMax), "subscriptions per user")
        case .tooManySharedZones: (Int64(limits.sharedZonesMax), "zones in a shared database")
        case .schemaFull: (Int64(limits.schemaEntriesMax), "types and fields together")
        case .tooManyZoneKeys: (Int64(limits.zoneKeysMax), "keys per zone")
        case .tooManySharedZoneKeys: (Int64(limits.sharedZoneKeysMax), "keys per zone for its participants")
        case .tooMuchShared: (Int64(limits.sharingRowsMax), "shares, participants and keys of zones per account")
        case .queryTooSlow: (Int64(limits.querySecondsMax), "seconds per query")
        case .hierarchyTooLarge: (Int64(limits.shareSubtreeMax), "records below one that is shared or moved")
        case .tooManyParts: (Int64(limits.zonePartsMax), "shares of one zone per user")
        case .tooManyHierarchies: (Int64(limits.hierarchiesMax), "shares per zone")
        case .tooManyParticipants: (Int64(limits.participantsMax), "participants per share, with the owner")
        case .tooManyBlocked: (Int64(limits.blockedMax), "blocked identities per share")
        default: nil
        }
    }

    /// The reasons that are about the schema. A ``SchemaRefusal`` says the same with names.
    private var schemaText: String {
        switch self {
        case .typeUnknown:
            "Cannot create new type in production schema. Add it to the schema and promote that first."
        case .fieldUnknown:
            "Cannot create or modify field in production schema. Add it to the schema and promote that first."
        case .fieldTypeDiffers:
            "Invalid value: the field holds values of another type. Save the type that it holds, or use another key."
        case .fieldSpaceDiffers:
            "The field is encrypted and the value is not, or the other way round. Use another key for the other kind."
        case .schemaFull:
            "The schema cannot have more types and fields. Use fewer keys, or remove what is not used."
        default: requestText
        }
    }

    /// The reasons that are not about one record.
    private var requestText: String {
        switch self {
        case .batchFailed:
            "Atomic failure. Another item of this zone's batch failed. Correct that one, and send all of them again."
        case .zoneNameInvalid:
            "Invalid zone name. Use 1 to 255 printable ASCII characters, the first of them not an underscore."
        case .zoneIsDefault:
            "The default zone cannot be deleted. Delete its records instead."
        case .zoneScopeFixed:
            "The zone exists with another encryption scope, which is chosen when a zone is created. Use another zone."
        case .tooManyItems:
            "Your request contains more than the maximum number of items in a single request. Split it in half."
        case .requestTooLarge:
            "Your request's records are too large together. Split it in half."
        case .tooMuchAtOnce:
            "Your request changes more than fits into one. Send again what was not carried out."
        case .tooMuchStored:
            "The records that your atomic request changes are too large together. Split it in half."
        case .tooManyZones:
            "The database cannot have more zones. Delete zones that are no longer needed."
        case .tooManyAccountZones:
            "The account cannot have more zones. Delete zones that are no longer needed, in this or in another container."
        case .requestForgotten:
            """
            The server cannot tell whether this request was carried out. Fetch changes, then send what is still needed.
            """
        case .tokenExpired:
            "client knowledge differs from server knowledge. Discard the change token and fetch from the beginning."
        case .tokenInvalid:
            "The change token belongs to another feed. Keep a separate token for each zone and database."
        case .feedUnavailable:
            "This zone or database has no change feed. Use a custom zone of the private database."
        case .wrongDatabase:
            "The database does not support this request. Custom zones are created in the private database."
        default: serverText
        }
    }

    /// The reasons that are about keys of encrypted values.
    private var keysText: String? {
        switch self {
        case .keysUnavailable:
            "The server cannot read the keys of these encrypted values. Either it was started without a master key "
                + "(--master-key-file), or this account or the zone owner's account is end-to-end encrypted."
        case .masterKeyWrong:
            "The server cannot decrypt the account's key. It must be started with the master key file (--master-key-file) "
                + "with which the database's keys are encrypted."
        case .zoneKeyUnknown:
            "A value is encrypted with a key that the zone does not have, or does not use any more. Fetch the zone's keys "
                + "and encrypt it anew."
        case .valueNotEncrypted:
            "An encrypted value was sent that is not encrypted. Update the client."
        case .encryptionModeDiffers:
            "The account's keys are kept in another way than the device expected. Fetch the keys again."
        case .tooManyZoneKeys:
            "The zone cannot have more keys. Move its records to a new zone."
        case .tooManySharedZoneKeys:
            "The zone has so many keys that only its owner can add another. Encrypt with the zone's newest key."
        default: nil
        }
    }

    /// The reasons that are about shares.
    private var sharingText: String? {
        switch self {
        case .zoneNotShareable:
            "The zone cannot be shared. Share a custom zone of the private database."
        case .shareInvalid:
            "Only a share made by CKShare(recordZoneID:) can have the name cloudkit.zoneshare, and only with its type. "
                + "It cannot have a parent, children or references with the action deleteSelf."
        case .hierarchiesUnavailable:
            "An older server still serves this database, so only whole zones can be shared. Replace or stop that server, "
                + "and try again after the delay."
        case .shareRootMissing:
            "The first save of a share needs its root record in the same request. Save both together, and keep the root of a "
                + "share as it is."
        case .alreadyShared:
            "The record, or one above or below it, belongs to another share. Use that share, or stop sharing it first."
        case .zoneIsShared:
            "The whole zone is shared. Stop sharing the zone before you share a part of it."
        case .zoneHasHierarchies:
            "Parts of the zone are shared. Stop sharing them before you share the whole zone."
        case .hierarchyTooLarge:
            "Too many records are below the record. Share or move smaller parts."
        case .tooManyHierarchies:
            "The zone has too many shares. Stop sharing some, or share records of another zone."
        case .tooManyParts:
            "The user takes part in too many shares of this zone. Leave some of them, or ask the owner to share a record above "
                + "several of them."
        case .participantInvalid:
            "A participant is not valid. Look the person up again. Use the role privateUser or administrator, and the "
                + "permission readOnly or readWrite."
        case .participantsFixed:
            "Nobody can be added to a public share or removed from it. Set publicPermission to none first."
        case .tooManyParticipants:
            "The share cannot have more participants. Remove some of them."
        case .notShareAdministrator:
            "WRITE operation not permitted. Only the owner and the administrators of a share may change it."
        case .shareUnknown:
            "Share not found. It has ended, or this account is not invited. Ask its owner for an invitation."
        case .shareIsOwn:
            "The share is the user's own. Its zone is in the private database: there is nothing to accept."
        case .tooManySharedZones:
            "The shared database cannot have more zones. Leave some that are no longer needed."
        case .alreadyInvited:
            "This account is invited to the share, or takes part. Fetch the share's metadata, and accept it."
        case .tooManyBlocked:
            "The share has as many blocked identities as it may have. Unblock some of them."
        case .tooMuchShared:
            "The account that owns the zone has as many shares, participants and keys of zones as it may have. Its owner must "
                + "delete shared zones that are no longer needed."
        default: nil
        }
    }

    /// The reasons that are about the caller's rights and the state of the server.
    private var serverText: String {
        switch self {
        case .notAuthenticated:
            "This request needs an account. Sign in with a valid credential."
        case .notPermitted:
            "WRITE operation not permitted. Only the record's creator, or a role that may write its type, may change it. Ask the "
                + "operator for a role (tidemark admin roles assign)."
        case .createNotPermitted:
            "CREATE operation not permitted. No role of this user may create records of this type. Ask the operator for one "
                + "(tidemark admin roles assign)."
        case .subscriptionUnknown:
            "Subscription not found. It was deleted or never saved. Save it again if you still need it."
        case .subscriptionInvalid:
            """
            The subscription cannot be saved. Save one for the database, or for a zone that you have created, in the private \
            database. Its ID has 1 to 255 printable ASCII characters, and its notification info is small.
            """
        case .tooManySubscriptions:
            """
            The user cannot have more subscriptions. Delete those that are no longer needed. To a public database long predicates \
            leave room for fewer.
            """
        case .zoneBusy:
            "The zone is busy. Try again after the delay."
        case .storeUnavailable:
            "The store cannot be reached. Try again after the delay."
        case .tooManyRequests:
            "Too many requests are under way. Wait for answers before you send more."
        case .requestInvalid:
            "The request is malformed, or this server does not know it. Update the client or the server."
        case .containerUnknown:
            "Unknown container. Check its identifier and environment. An operator creates one: tidemark admin containers create."
        case .containerClosed:
            "The container is closed: an operator deletes it. Nothing that this device has not sent is lost. Try again when "
                + "the container has been created again; ask the operator."
        case .assetMissing:
            "Asset not available. Upload it to this database before the record, and fetch it through a record that names it."
        case .assetTooLarge:
            "asset too large. Split the file, or have the server's limit for assets raised."
        case .assetModified:
            "The asset's content is not what was announced. The file changed during the upload. Upload it again."
        case .assetsFull:
            "There is no room for the asset. Delete what is not needed, or have the server's disk enlarged."
        case .quotaExceeded:
            "The database's storage is full. Delete what is not needed (assets free their space once the server has "
                + "collected them), or have the operator raise the quota: tidemark admin containers set-quota."
        case .publicShareFull:
            "This account's share of the public database is full. Records and their assets count for the account that created "
                + "them: delete some of them, or have the operator raise the share: tidemark admin containers set-quota "
                + "--public-share-megabytes."
        case .uploadsFull:
            "This account has too many unfinished uploads. Wait until some end, then try again. The server removes "
                + "abandoned uploads."
        case .assetsUnavailable:
            "This server keeps no assets. Its operator can give it a directory for them (--asset-directory)."
        default:
            keysText ?? queryText ?? sharingText
                ?? "Internal error. Tell the server's operator: its log has the details."
        }
    }
}
