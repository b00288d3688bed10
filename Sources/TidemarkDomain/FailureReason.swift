// SPDX-License-Identifier: Apache-2.0

/// Every way in which the rules refuse something. Raw values are stored in remembered outcomes, so never reuse one.
///
/// If several apply to one item, the one that stands first in `RecordsRules` wins.
package enum FailureReason: Int16, Error, CaseIterable {
    /// the zone does not exist.
    case zoneNotFound = 1
    /// the zone's user purged it: deleted its data.
    case zonePurged = 2
    /// the zone was lost to a key reset.
    case zoneKeysReset = 3
    /// "record to insert already exists".
    case recordExists = 4
    /// "client oplock error updating record".
    case recordChanged = 5
    /// "recordChangeTag specified, but record not found".
    case recordMissing = 6
    /// fetched by ID, not there.
    case recordUnknown = 7
    /// a record's type never changes.
    case recordTypeChanged = 8
    /// two changes to one record in one request.
    case itemRepeated = 9
    /// not a record name.
    case recordNameInvalid = 10
    /// not a record type.
    case recordTypeInvalid = 11
    /// not a field map.
    case fieldsInvalid = 12
    /// over the size of one record.
    case recordTooLarge = 13
    /// the parent exists neither on the server nor in the request.
    case parentMissing = 14
    /// a record would be its own ancestor.
    case parentCycle = 15
    /// the record is still the parent of another.
    case stillParent = 16
    /// another item of the atomic batch failed.
    case batchFailed = 17
    /// not a zone name.
    case zoneNameInvalid = 18
    /// the default zone cannot be deleted.
    case zoneIsDefault = 19
    /// too many items.
    case tooManyItems = 20
    /// too many bytes.
    case requestTooLarge = 21
    /// Limits.zonesMax.
    case tooManyZones = 22
    /// a repeat whose outcome may have been forgotten, or a life of a device that another process has too.
    case requestForgotten = 23
    /// the token is too old, or belongs to another incarnation of the zone or the store.
    case tokenExpired = 24
    /// a token of another feed, zone, database or user, or no token at all.
    case tokenInvalid = 25
    /// this zone or database has no change feed.
    case feedUnavailable = 26
    /// not in this database.
    case wrongDatabase = 27
    /// the request needs an account.
    case notAuthenticated = 28
    /// "WRITE operation not permitted".
    case notPermitted = 29
    /// no such subscription.
    case subscriptionUnknown = 30
    /// not a subscription that this database can have.
    case subscriptionInvalid = 31
    /// another transaction holds the zone's lock.
    case zoneBusy = 32
    /// The store cannot be reached just now.
    case storeUnavailable = 33
    /// Too many requests under way.
    case tooManyRequests = 34
    /// A request that this server does not know, or that is malformed.
    case requestInvalid = 35
    ///
    case containerUnknown = 36
    /// an operator deletes the container.
    case containerClosed = 58
    /// An invariant of the server is broken.
    case serverFault = 37
    /// the frozen schema does not have the record type.
    case typeUnknown = 38
    /// the frozen schema does not have the field.
    case fieldUnknown = 39
    /// the field holds values of another type.
    case fieldTypeDiffers = 40
    /// the field is encrypted and the value is not, or the other way round.
    case fieldSpaceDiffers = 41
    /// ``Limits/schemaEntriesMax``.
    case schemaFull = 42
    /// "CREATE operation not permitted".
    case createNotPermitted = 43
    /// a reference to a record of another zone.
    case referenceElsewhere = 44
    /// too many deleteSelf references to one record.
    case tooManyReferences = 45
    /// Limits.cascadeReferencesMax.
    case cascadeTooLarge = 46
    /// a zone's encryption scope is chosen when it is created.
    case zoneScopeFixed = 47
    /// with those before it in the request, the stored record is too large.
    case tooMuchAtOnce = 48
    /// the same in an atomic batch, which cannot be carried out in parts.
    case tooMuchStored = 49
    /// the asset was not uploaded to this database, or the caller may not read it.
    case assetMissing = 50
    /// the asset is larger than one asset may be.
    case assetTooLarge = 51
    /// the uploaded bytes are not the announced ones.
    case assetModified = 52
    /// the place where assets are kept is full.
    case assetsFull = 53
    /// the database would hold more than its ``StorageQuota``.
    case quotaExceeded = 57
    /// No asset directory was given to the server.
    case assetsUnavailable = 54
    /// ``Limits/uploadBytesMax``.
    case uploadsFull = 56
    /// ``Limits/subscriptionsMax``.
    case tooManySubscriptions = 55

    // Queries: 60 and on.

    /// no record of the type was ever saved.
    case recordTypeUnknown = 60
    /// user records are not found by queries.
    case recordTypeNotQueryable = 61
    /// Limits.predicateDepthMax and its like.
    case queryTooLarge = 62
    /// R-176 … R-181: the operator does not exist for this kind of value.
    case operatorInvalid = 63
    /// this condition cannot be negated.
    case negationInvalid = 64
    /// the constant is of another type than the field.
    case valueKindWrong = 65
    /// the record type has no field of this name.
    case queryFieldUnknown = 66
    /// the field has no index that queries can use, or can never have one.
    case fieldNotQueryable = 67
    ///
    case fieldNotSortable = 68
    /// results cannot be sorted by this key.
    case sortInvalid = 69
    /// the cursor belongs to another query, or to the zones of another database, or is damaged.
    case cursorInvalid = 70
    /// the shared database has no query over all zones.
    case zoneRequired = 71
    /// it takes longer than a query may.
    case queryTooSlow = 72

    /// the field is encrypted, so that the server cannot compare it.
    case fieldEncrypted = 76
    /// a field whose values no predicate compares.
    case fieldNotComparable = 77

    // Keys: 80 and on.

    /// The server was given no master key file, so it keeps no keys.
    case keysUnavailable = 80
    /// The keys in the store are encrypted with another master key than the server's.
    case masterKeyWrong = 81
    /// a value is encrypted with a key that the zone does not have, or no longer has.
    case zoneKeyUnknown = 82
    /// a value of an encrypted field is not encrypted.
    case valueNotEncrypted = 83
    /// The account keeps its keys in another way than the device expected.
    case encryptionModeDiffers = 84
    /// ``Limits/zoneKeysMax``.
    case tooManyZoneKeys = 85
    /// A record has too many references with the action deleteSelf.
    case tooManyTargets = 86

    // Sharing: 90 and on.

    /// the zone lacks the capability to be shared.
    case zoneNotShareable = 90
    /// a record with the type or the name of a CKShare that is not a CKShare. Or a CKShare with a parent, a
    /// child or a reference with the action deleteSelf.
    case shareInvalid = 91
    /// the share of a hierarchy that would be made while an older server is connected to the database.
    case hierarchiesUnavailable = 92
    /// the first save of a hierarchy's share without its root, or a save that names another root.
    case shareRootMissing = 93
    /// a participant that no share can have.
    case participantInvalid = 94
    /// participants are added or removed while the share is public.
    case participantsFixed = 95
    /// ``Limits/participantsMax``.
    case tooManyParticipants = 96
    /// neither the owner nor an administrator of the share.
    case notShareAdministrator = 97
    /// there is no such share, or it is not for this user. The answer is the same, so that nobody learns which.
    case shareUnknown = 98
    /// owners do not accept their own shares.
    case shareIsOwn = 99
    /// ``Limits/sharedZonesMax``.
    case tooManySharedZones = 100
    /// ``Limits/sharedZoneKeysMax``.
    case tooManySharedZoneKeys = 101
    /// the account that owns the zone has as many shares, participants and keys of zones as one may have.
    case tooMuchShared = 102
    /// the user who asks for access already takes part, is invited or may join.
    case alreadyInvited = 110
    /// ``Limits/blockedMax``.
    case tooManyBlocked = 111
    /// the record, or one above or below it, is in another share.
    case alreadyShared = 112
    /// a hierarchy of a zone that is shared as a whole.
    case zoneIsShared = 113
    /// the whole of a zone whose hierarchies are shared.
    case zoneHasHierarchies = 114
    /// ``Limits/shareSubtreeMax``.
    case hierarchyTooLarge = 115
    /// ``Limits/hierarchiesMax``.
    case tooManyHierarchies = 116
    /// ``Limits/zonePartsMax``.
    case tooManyParts = 117
    /// ``Limits/accountZonesMax``.
    case tooManyAccountZones = 120
    /// the records of one account would take more of a public database than its share.
    case publicShareFull = 130
}
