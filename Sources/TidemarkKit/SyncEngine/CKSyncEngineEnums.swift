// SPDX-License-Identifier: Apache-2.0

// The engine's enums as in its Objective-C interface: numbers, for code that stores or logs them.

/// The kinds of ``CKSyncEngine/Event/AccountChange/ChangeType``.
public enum CKSyncEngineAccountChangeType: Int, Sendable {
    /// Somebody signed in.
    case signIn = 0
    /// Somebody signed out.
    case signOut = 1
    /// Another user signed in.
    case switchAccounts = 2
}

/// The kinds of ``CKDatabase/DatabaseChange/Deletion/Reason``.
public enum CKSyncEngineZoneDeletionReason: Int, Sendable {
    /// The zone was deleted.
    case deleted = 0
    /// The user purged the zone, which deleted its data.
    case purged = 1
    /// The user's keys were lost.
    case encryptedDataReset = 2
}

/// The kinds of ``CKSyncEngine/Event``.
public enum CKSyncEngineEventType: Int, Sendable {
    /// ``CKSyncEngine/Event/stateUpdate(_:)``
    case stateUpdate = 0
    /// ``CKSyncEngine/Event/accountChange(_:)``
    case accountChange = 1
    /// ``CKSyncEngine/Event/fetchedDatabaseChanges(_:)``
    case fetchedDatabaseChanges = 2
    /// ``CKSyncEngine/Event/fetchedRecordZoneChanges(_:)``
    case fetchedRecordZoneChanges = 3
    /// ``CKSyncEngine/Event/sentDatabaseChanges(_:)``
    case sentDatabaseChanges = 4
    /// ``CKSyncEngine/Event/sentRecordZoneChanges(_:)``
    case sentRecordZoneChanges = 5
    /// ``CKSyncEngine/Event/willFetchChanges(_:)``
    case willFetchChanges = 6
    /// ``CKSyncEngine/Event/willFetchRecordZoneChanges(_:)``
    case willFetchRecordZoneChanges = 7
    /// ``CKSyncEngine/Event/didFetchRecordZoneChanges(_:)``
    case didFetchRecordZoneChanges = 8
    /// ``CKSyncEngine/Event/didFetchChanges(_:)``
    case didFetchChanges = 9
    /// ``CKSyncEngine/Event/willSendChanges(_:)``
    case willSendChanges = 10
    /// ``CKSyncEngine/Event/didSendChanges(_:)``
    case didSendChanges = 11
}

/// The kinds of ``CKSyncEngine/PendingRecordZoneChange``.
public enum CKSyncEnginePendingRecordZoneChangeType: Int, Sendable {
    /// A record must be saved.
    case saveRecord = 0
    /// A record must be deleted.
    case deleteRecord = 1
}

/// The kinds of ``CKSyncEngine/PendingDatabaseChange``.
public enum CKSyncEnginePendingDatabaseChangeType: Int, Sendable {
    /// A zone must be saved.
    case saveZone = 0
    /// A zone must be deleted.
    case deleteZone = 1
}

/// The kinds of ``CKSyncEngine/SyncReason``.
public enum CKSyncEngineSyncReason: Int, Sendable {
    /// The engine decided to.
    case scheduled = 0
    /// The app called for it.
    case manual = 1
}
