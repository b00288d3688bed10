// SPDX-License-Identifier: Apache-2.0

// what `CKError.userInfo` may hold.

/// The domain of every `CKError`.
public let CKErrorDomain = "CKErrorDomain"

/// With `partialFailure`: the error of each item, by its ID.
public let CKPartialErrorsByItemIDKey = "CKPartialErrors"

/// With `serverRecordChanged`: the record as it is on the server.
public let CKRecordChangedErrorServerRecordKey = "ServerRecord"

/// With `serverRecordChanged`: the record that was to be saved.
public let CKRecordChangedErrorClientRecordKey = "ClientRecord"

/// With `serverRecordChanged`: the record as it was before the client changed it.
public let CKRecordChangedErrorAncestorRecordKey = "AncestorRecord"

/// The number of seconds after which to try again.
public let CKErrorRetryAfterKey = "CKRetryAfter"

/// With `zoneNotFound`: true when the zone was lost to a reset of its keys.
public let CKErrorUserDidResetEncryptedDataKey = "CKErrorUserDidResetEncryptedData"
