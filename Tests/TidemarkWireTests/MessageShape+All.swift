// SPDX-License-Identifier: Apache-2.0
//
// Made by tidemark-wire-generator from the .proto files. Run `make protocol` after changing those.
// swift-format-ignore-file

import TidemarkWire
import WireJudge

extension MessageShape {
    /// Every message of the protocol.
    static let all: [MessageShape] = [
        MessageShape(
            "WireHello", TidemarkWire.WireHello.self, WireJudge.WireHello.self,
            [
                FieldShape(1, "container", .string, bytesMax: 65536),
                FieldShape(2, "environment", .choice),
                FieldShape(3, "credential", .string, bytesMax: 65536),
                FieldShape(4, "device", .bytes, bytesMax: 1024),
                FieldShape(5, "client_name", .string, bytesMax: 65536),
                FieldShape(6, "device_name", .string, bytesMax: 65536),
                FieldShape(7, "life", .bytes, bytesMax: 1024),
                FieldShape(10, "counts_pushes", .bool),
            ]),
        MessageShape(
            "WireHelloAnswer", TidemarkWire.WireHelloAnswer.self, WireJudge.WireHelloAnswer.self,
            [
                FieldShape(1, "user_record_name", .string),
                FieldShape(2, "server_time", .int64),
                FieldShape(3, "limits", .message("WireServerLimits")),
                FieldShape(4, "server_name", .string),
                FieldShape(5, "memory_epoch", .uint64),
                FieldShape(6, "device_taken", .bool),
                FieldShape(7, "store_life", .uint64),
                FieldShape(8, "request_session", .bytes),
                FieldShape(9, "wants_reports", .bool),
                FieldShape(20, "warnings", .string, elementsMax: 1000),
            ]),
        MessageShape(
            "WirePendingReport", TidemarkWire.WirePendingReport.self, WireJudge.WirePendingReport.self,
            [
                FieldShape(1, "saves", .uint32),
                FieldShape(2, "deletes", .uint32),
                FieldShape(3, "database_changes", .uint32),
                FieldShape(4, "waits_for", .choice),
                FieldShape(5, "last_error", .uint32),
            ]),
        MessageShape(
            "WireServerLimits", TidemarkWire.WireServerLimits.self, WireJudge.WireServerLimits.self,
            [
                FieldShape(1, "items_max", .uint32),
                FieldShape(2, "request_bytes_max", .uint32),
                FieldShape(3, "record_bytes_max", .uint32),
                FieldShape(4, "requests_in_flight_max", .uint32),
                FieldShape(5, "message_bytes_max", .uint32),
                FieldShape(6, "asset_bytes_max", .uint64),
                FieldShape(7, "asset_chunk_bytes_max", .uint32),
                FieldShape(8, "requests_per_second", .uint32),
                FieldShape(9, "request_burst", .uint32),
                FieldShape(10, "quota_bytes", .uint64, isOptional: true),
                FieldShape(11, "quota_used_bytes", .uint64, isOptional: true),
                FieldShape(12, "connections_max", .uint32),
            ]),
        MessageShape(
            "WirePrepareAssetUpload", TidemarkWire.WirePrepareAssetUpload.self, WireJudge.WirePrepareAssetUpload.self,
            [
                FieldShape(1, "database", .choice),
                FieldShape(2, "zone", .message("WireZoneID")),
                FieldShape(3, "sha256", .bytes, bytesMax: 1024),
                FieldShape(4, "byte_count", .uint64),
                FieldShape(5, "draft", .bytes, bytesMax: 1024),
                FieldShape(6, "checksum", .bytes, bytesMax: 1024),
            ]),
        MessageShape(
            "WireUploadAssetChunk", TidemarkWire.WireUploadAssetChunk.self, WireJudge.WireUploadAssetChunk.self,
            [
                FieldShape(1, "database", .choice),
                FieldShape(2, "zone", .message("WireZoneID")),
                FieldShape(3, "sha256", .bytes, bytesMax: 1024),
                FieldShape(4, "byte_count", .uint64),
                FieldShape(5, "offset", .uint64),
                FieldShape(6, "content", .bytes, bytesMax: 4194304),
                FieldShape(7, "draft", .bytes, bytesMax: 1024),
                FieldShape(8, "is_named_by_content", .bool),
                FieldShape(9, "checksum", .bytes, bytesMax: 1024),
            ]),
        MessageShape(
            "WireAssetProgress", TidemarkWire.WireAssetProgress.self, WireJudge.WireAssetProgress.self,
            [
                FieldShape(1, "offset", .uint64),
                FieldShape(2, "is_complete", .bool),
                FieldShape(3, "sha256", .bytes, bytesMax: 1024),
            ]),
        MessageShape(
            "WireFetchAssetChunk", TidemarkWire.WireFetchAssetChunk.self, WireJudge.WireFetchAssetChunk.self,
            [
                FieldShape(1, "database", .choice),
                FieldShape(2, "zone", .message("WireZoneID")),
                FieldShape(3, "record", .string, bytesMax: 65536),
                FieldShape(4, "sha256", .bytes, bytesMax: 1024),
                FieldShape(5, "byte_count", .uint64),
                FieldShape(6, "offset", .uint64),
                FieldShape(7, "length", .uint32),
                FieldShape(8, "wants_checksum", .bool),
            ]),
        MessageShape(
            "WireAssetChunk", TidemarkWire.WireAssetChunk.self, WireJudge.WireAssetChunk.self,
            [
                FieldShape(1, "content", .bytes),
                FieldShape(2, "checksum", .bytes, bytesMax: 1024),
            ]),
        MessageShape(
            "WireFetchDatabaseChanges", TidemarkWire.WireFetchDatabaseChanges.self, WireJudge.WireFetchDatabaseChanges.self,
            [
                FieldShape(1, "database", .choice),
                FieldShape(2, "token", .bytes, bytesMax: 4096),
                FieldShape(3, "limit", .uint32),
                FieldShape(4, "with_ends", .bool),
                FieldShape(5, "then", .message("WireFetchZoneChanges")),
                FieldShape(6, "follows", .bool),
                FieldShape(10, "subscription_id", .string, bytesMax: 65536),
            ]),
        MessageShape(
            "WireFetchDatabaseChangesAnswer", TidemarkWire.WireFetchDatabaseChangesAnswer.self, WireJudge.WireFetchDatabaseChangesAnswer.self,
            [
                FieldShape(1, "ended", .message("WireZoneEnd"), elementsMax: 65536),
                FieldShape(2, "changed", .message("WireZoneID"), elementsMax: 65536),
                FieldShape(3, "token", .bytes),
                FieldShape(4, "more_coming", .bool),
                FieldShape(5, "then", .message("WireFetchZoneChangesAnswer")),
                FieldShape(10, "subscription_missing", .bool),
            ]),
        MessageShape(
            "WireZoneEnd", TidemarkWire.WireZoneEnd.self, WireJudge.WireZoneEnd.self,
            [
                FieldShape(1, "zone", .message("WireZoneID")),
                FieldShape(2, "reason", .choice),
            ]),
        MessageShape(
            "WireFetchZoneChanges", TidemarkWire.WireFetchZoneChanges.self, WireJudge.WireFetchZoneChanges.self,
            [
                FieldShape(1, "database", .choice),
                FieldShape(2, "zone", .message("WireZoneID")),
                FieldShape(3, "token", .bytes, bytesMax: 4096),
                FieldShape(4, "limit", .uint32),
                FieldShape(5, "desired_keys", .message("WireDesiredKeys")),
                FieldShape(6, "with_ends", .bool),
            ]),
        MessageShape(
            "WireFetchZoneChangesAnswer", TidemarkWire.WireFetchZoneChangesAnswer.self, WireJudge.WireFetchZoneChangesAnswer.self,
            [
                FieldShape(1, "changes", .message("WireZoneChange"), elementsMax: 65536),
                FieldShape(2, "token", .bytes),
                FieldShape(3, "more_coming", .bool),
                FieldShape(4, "client_change_token", .bytes),
            ]),
        MessageShape(
            "WireVerifyZone", TidemarkWire.WireVerifyZone.self, WireJudge.WireVerifyZone.self,
            [
                FieldShape(1, "database", .choice),
                FieldShape(2, "zone", .message("WireZoneID")),
                FieldShape(3, "lists", .bool),
                FieldShape(4, "after", .string, bytesMax: 4096),
            ]),
        MessageShape(
            "WireVerifyZoneAnswer", TidemarkWire.WireVerifyZoneAnswer.self, WireJudge.WireVerifyZoneAnswer.self,
            [
                FieldShape(1, "token", .bytes),
                FieldShape(2, "record_count", .uint64),
                FieldShape(3, "digest", .bytes),
                FieldShape(4, "versions", .message("WireNamedVersion"), elementsMax: 65536),
                FieldShape(5, "next", .string),
            ]),
        MessageShape(
            "WireNamedVersion", TidemarkWire.WireNamedVersion.self, WireJudge.WireNamedVersion.self,
            [
                FieldShape(1, "name", .string),
                FieldShape(2, "number", .uint64),
            ]),
        MessageShape(
            "WireZoneChange", TidemarkWire.WireZoneChange.self, WireJudge.WireZoneChange.self,
            [
                FieldShape(1, "record", .message("WireRecord"), oneof: 0),
                FieldShape(2, "deleted", .message("WireRecordEnd"), oneof: 0),
            ]),
        MessageShape(
            "WireRecordEnd", TidemarkWire.WireRecordEnd.self, WireJudge.WireRecordEnd.self,
            [
                FieldShape(1, "name", .string),
                FieldShape(2, "type", .string),
            ]),
        MessageShape(
            "WireRequestStamp", TidemarkWire.WireRequestStamp.self, WireJudge.WireRequestStamp.self,
            [
                FieldShape(1, "counter", .uint64),
                FieldShape(2, "lowest_unanswered", .uint64),
                FieldShape(3, "issued_at", .int64),
                FieldShape(4, "repeated", .bool),
                FieldShape(5, "epoch", .uint64),
                FieldShape(6, "nonce", .uint64),
            ]),
        MessageShape(
            "WireDesiredKeys", TidemarkWire.WireDesiredKeys.self, WireJudge.WireDesiredKeys.self,
            [
                FieldShape(1, "keys", .string, elementsMax: 4096, bytesMax: 65536),
            ]),
        MessageShape(
            "WireClientEnvelope", TidemarkWire.WireClientEnvelope.self, WireJudge.WireClientEnvelope.self,
            [
                FieldShape(1, "id", .uint64),
                FieldShape(2, "hello", .message("WireHello"), oneof: 0),
                FieldShape(3, "modify_records", .message("WireModifyRecords"), oneof: 0),
                FieldShape(4, "fetch_records", .message("WireFetchRecords"), oneof: 0),
                FieldShape(5, "modify_zones", .message("WireModifyZones"), oneof: 0),
                FieldShape(6, "fetch_zones", .message("WireFetchZones"), oneof: 0),
                FieldShape(7, "fetch_database_changes", .message("WireFetchDatabaseChanges"), oneof: 0),
                FieldShape(8, "fetch_zone_changes", .message("WireFetchZoneChanges"), oneof: 0),
                FieldShape(9, "modify_subscriptions", .message("WireModifySubscriptions"), oneof: 0),
                FieldShape(10, "fetch_subscriptions", .message("WireFetchSubscriptions"), oneof: 0),
                FieldShape(11, "query_records", .message("WireQueryRecords"), oneof: 0),
                FieldShape(14, "verify_zone", .message("WireVerifyZone"), oneof: 0),
                FieldShape(20, "prepare_asset_upload", .message("WirePrepareAssetUpload"), oneof: 0),
                FieldShape(21, "upload_asset_chunk", .message("WireUploadAssetChunk"), oneof: 0),
                FieldShape(22, "fetch_asset_chunk", .message("WireFetchAssetChunk"), oneof: 0),
                FieldShape(30, "fetch_keys", .message("WireFetchKeys"), oneof: 0),
                FieldShape(31, "save_account_key", .message("WireSaveAccountKey"), oneof: 0),
                FieldShape(32, "save_zone_key", .message("WireSaveZoneKey"), oneof: 0),
                FieldShape(33, "grant_keys", .message("WireGrantKeys"), oneof: 0),
                FieldShape(40, "fetch_share_metadata", .message("WireFetchShareMetadata"), oneof: 0),
                FieldShape(41, "accept_shares", .message("WireAcceptShares"), oneof: 0),
                FieldShape(42, "fetch_share_participants", .message("WireFetchShareParticipants"), oneof: 0),
                FieldShape(43, "request_share_access", .message("WireRequestShareAccess"), oneof: 0),
                FieldShape(50, "join_presence", .message("WireJoinPresence"), oneof: 0),
                FieldShape(51, "publish_presence", .message("WirePublishPresence"), oneof: 0),
                FieldShape(52, "leave_presence", .message("WireLeavePresence"), oneof: 0),
                FieldShape(60, "operation_group", .message("WireOperationGroup")),
                FieldShape(61, "pushes_heard", .uint64),
                FieldShape(62, "pending_report", .message("WirePendingReport")),
            ]),
        MessageShape(
            "WireOperationGroup", TidemarkWire.WireOperationGroup.self, WireJudge.WireOperationGroup.self,
            [
                FieldShape(1, "id", .string, bytesMax: 65536),
                FieldShape(2, "name", .string, bytesMax: 65536),
            ]),
        MessageShape(
            "WireServerEnvelope", TidemarkWire.WireServerEnvelope.self, WireJudge.WireServerEnvelope.self,
            [
                FieldShape(1, "id", .uint64),
                FieldShape(2, "failure", .message("WireFailure"), oneof: 0),
                FieldShape(3, "hello", .message("WireHelloAnswer"), oneof: 0),
                FieldShape(4, "modify_records", .message("WireModifyRecordsAnswer"), oneof: 0),
                FieldShape(5, "fetch_records", .message("WireFetchRecordsAnswer"), oneof: 0),
                FieldShape(6, "modify_zones", .message("WireModifyZonesAnswer"), oneof: 0),
                FieldShape(7, "fetch_zones", .message("WireFetchZonesAnswer"), oneof: 0),
                FieldShape(8, "fetch_database_changes", .message("WireFetchDatabaseChangesAnswer"), oneof: 0),
                FieldShape(9, "fetch_zone_changes", .message("WireFetchZoneChangesAnswer"), oneof: 0),
                FieldShape(10, "modify_subscriptions", .message("WireModifySubscriptionsAnswer"), oneof: 0),
                FieldShape(11, "fetch_subscriptions", .message("WireFetchSubscriptionsAnswer"), oneof: 0),
                FieldShape(12, "query_records", .message("WireQueryRecordsAnswer"), oneof: 0),
                FieldShape(14, "verify_zone", .message("WireVerifyZoneAnswer"), oneof: 0),
                FieldShape(15, "push", .message("WirePush"), oneof: 0),
                FieldShape(20, "prepare_asset_upload", .message("WireAssetProgress"), oneof: 0),
                FieldShape(21, "upload_asset_chunk", .message("WireAssetProgress"), oneof: 0),
                FieldShape(22, "fetch_asset_chunk", .message("WireAssetChunk"), oneof: 0),
                FieldShape(30, "fetch_keys", .message("WireFetchKeysAnswer"), oneof: 0),
                FieldShape(31, "save_account_key", .message("WireSaveAccountKeyAnswer"), oneof: 0),
                FieldShape(32, "save_zone_key", .message("WireSaveZoneKeyAnswer"), oneof: 0),
                FieldShape(33, "grant_keys", .message("WireGrantKeysAnswer"), oneof: 0),
                FieldShape(40, "fetch_share_metadata", .message("WireFetchShareMetadataAnswer"), oneof: 0),
                FieldShape(41, "accept_shares", .message("WireAcceptSharesAnswer"), oneof: 0),
                FieldShape(42, "fetch_share_participants", .message("WireFetchShareParticipantsAnswer"), oneof: 0),
                FieldShape(43, "request_share_access", .message("WireRequestShareAccessAnswer"), oneof: 0),
                FieldShape(50, "join_presence", .message("WireJoinPresenceAnswer"), oneof: 0),
                FieldShape(51, "publish_presence", .message("WirePublishPresenceAnswer"), oneof: 0),
                FieldShape(52, "leave_presence", .message("WireLeavePresenceAnswer"), oneof: 0),
                FieldShape(53, "presence", .message("WirePresencePush"), oneof: 0),
                FieldShape(61, "pushes_sent", .uint64),
            ]),
        MessageShape(
            "WireFailure", TidemarkWire.WireFailure.self, WireJudge.WireFailure.self,
            [
                FieldShape(1, "code", .choice),
                FieldShape(2, "message", .string),
                FieldShape(3, "retry_after_seconds", .double),
                FieldShape(4, "user_did_reset_encrypted_data_key", .bool),
                FieldShape(5, "zone_key_unknown", .bool),
                FieldShape(6, "request_session", .bytes),
                FieldShape(7, "sign_in_problem", .choice),
            ]),
        MessageShape(
            "WireFetchKeys", TidemarkWire.WireFetchKeys.self, WireJudge.WireFetchKeys.self,
            [
                FieldShape(1, "database", .choice),
                FieldShape(2, "zones", .message("WireZoneID"), elementsMax: 104),
                FieldShape(3, "in_pages", .bool),
                FieldShape(4, "knows_links", .bool),
            ]),
        MessageShape(
            "WireFetchKeysAnswer", TidemarkWire.WireFetchKeysAnswer.self, WireJudge.WireFetchKeysAnswer.self,
            [
                FieldShape(1, "account", .message("WireAccountKey")),
                FieldShape(2, "zones", .message("WireZoneKeysResult"), elementsMax: 65536),
            ]),
        MessageShape(
            "WireAccountKey", TidemarkWire.WireAccountKey.self, WireJudge.WireAccountKey.self,
            [
                FieldShape(1, "mode", .choice),
                FieldShape(2, "id", .bytes, bytesMax: 1024),
                FieldShape(3, "key", .bytes, bytesMax: 1024),
                FieldShape(4, "public_key", .bytes, bytesMax: 1024),
            ]),
        MessageShape(
            "WireZoneKeysResult", TidemarkWire.WireZoneKeysResult.self, WireJudge.WireZoneKeysResult.self,
            [
                FieldShape(1, "keys", .message("WireZoneKeys"), oneof: 0),
                FieldShape(2, "failure", .message("WireFailure"), oneof: 0),
            ]),
        MessageShape(
            "WireZoneKeys", TidemarkWire.WireZoneKeys.self, WireJudge.WireZoneKeys.self,
            [
                FieldShape(1, "keys", .message("WireZoneKey"), elementsMax: 1000),
                FieldShape(2, "given", .message("WireGivenKeys")),
            ]),
        MessageShape(
            "WireGivenKeys", TidemarkWire.WireGivenKeys.self, WireJudge.WireGivenKeys.self,
            [
                FieldShape(1, "sealed", .bytes, bytesMax: 8192),
                FieldShape(2, "owner_public_key", .bytes, bytesMax: 1024),
                FieldShape(3, "owner_mode", .choice),
            ]),
        MessageShape(
            "WireZoneKey", TidemarkWire.WireZoneKey.self, WireJudge.WireZoneKey.self,
            [
                FieldShape(1, "id", .bytes, bytesMax: 1024),
                FieldShape(2, "account_key_id", .bytes, bytesMax: 1024),
                FieldShape(3, "wrapped", .bytes, bytesMax: 1024),
            ]),
        MessageShape(
            "WireSaveAccountKey", TidemarkWire.WireSaveAccountKey.self, WireJudge.WireSaveAccountKey.self,
            [
                FieldShape(1, "account", .message("WireAccountKey")),
            ]),
        MessageShape(
            "WireSaveAccountKeyAnswer", TidemarkWire.WireSaveAccountKeyAnswer.self, WireJudge.WireSaveAccountKeyAnswer.self,
            [
                FieldShape(1, "account", .message("WireAccountKey")),
            ]),
        MessageShape(
            "WireSaveZoneKey", TidemarkWire.WireSaveZoneKey.self, WireJudge.WireSaveZoneKey.self,
            [
                FieldShape(1, "database", .choice),
                FieldShape(2, "zone", .message("WireZoneID")),
                FieldShape(3, "key", .message("WireZoneKey")),
                FieldShape(4, "newest_id", .bytes, bytesMax: 1024),
                FieldShape(5, "retires_older", .bool),
            ]),
        MessageShape(
            "WireSaveZoneKeyAnswer", TidemarkWire.WireSaveZoneKeyAnswer.self, WireJudge.WireSaveZoneKeyAnswer.self,
            [
                FieldShape(1, "keys", .message("WireZoneKeys")),
            ]),
        MessageShape(
            "WireGrantKeys", TidemarkWire.WireGrantKeys.self, WireJudge.WireGrantKeys.self,
            [
                FieldShape(1, "zone", .message("WireZoneID")),
                FieldShape(2, "grants", .message("WireKeyGrant"), elementsMax: 104),
                FieldShape(3, "after", .bytes, bytesMax: 1024),
            ]),
        MessageShape(
            "WireKeyGrant", TidemarkWire.WireKeyGrant.self, WireJudge.WireKeyGrant.self,
            [
                FieldShape(1, "user", .string, bytesMax: 1024),
                FieldShape(2, "public_key", .bytes, bytesMax: 1024),
                FieldShape(3, "newest_id", .bytes, bytesMax: 1024),
                FieldShape(4, "key_count", .uint32),
                FieldShape(5, "sealed", .bytes, bytesMax: 8192),
            ]),
        MessageShape(
            "WireGrantKeysAnswer", TidemarkWire.WireGrantKeysAnswer.self, WireJudge.WireGrantKeysAnswer.self,
            [
                FieldShape(1, "readers", .message("WireKeyReader"), elementsMax: 1000),
                FieldShape(2, "next", .bytes, bytesMax: 1024),
            ]),
        MessageShape(
            "WireKeyReader", TidemarkWire.WireKeyReader.self, WireJudge.WireKeyReader.self,
            [
                FieldShape(1, "user", .string, bytesMax: 1024),
                FieldShape(2, "mode", .choice),
                FieldShape(3, "public_key", .bytes, bytesMax: 1024),
            ]),
        MessageShape(
            "WireOperatorClientMessage", TidemarkWire.WireOperatorClientMessage.self, WireJudge.WireOperatorClientMessage.self,
            [
                FieldShape(1, "hello", .message("WireOperatorHello"), oneof: 0),
                FieldShape(2, "command", .message("WireOperatorCommand"), oneof: 0),
                FieldShape(3, "answer", .message("WireOperatorAnswer"), oneof: 0),
                FieldShape(4, "file_opened", .message("WireOperatorFileOpened"), oneof: 0),
                FieldShape(5, "file_part", .message("WireOperatorFilePart"), oneof: 0),
                FieldShape(6, "taken", .message("WireOperatorTaken"), oneof: 0),
                FieldShape(7, "cancel", .message("WireOperatorCancel"), oneof: 0),
            ]),
        MessageShape(
            "WireOperatorHello", TidemarkWire.WireOperatorHello.self, WireJudge.WireOperatorHello.self,
            [
                FieldShape(1, "credential", .bytes, bytesMax: 4096),
                FieldShape(2, "client", .string, bytesMax: 256),
            ]),
        MessageShape(
            "WireOperatorCommand", TidemarkWire.WireOperatorCommand.self, WireJudge.WireOperatorCommand.self,
            [
                FieldShape(1, "arguments", .string, elementsMax: 512, bytesMax: 65536),
                FieldShape(2, "container", .string, bytesMax: 1024),
                FieldShape(3, "environment", .string, bytesMax: 64),
                FieldShape(4, "has_color", .bool),
                FieldShape(5, "can_ask", .bool),
                FieldShape(6, "shows_progress", .bool),
                FieldShape(7, "credit", .uint32),
            ]),
        MessageShape(
            "WireOperatorAnswer", TidemarkWire.WireOperatorAnswer.self, WireJudge.WireOperatorAnswer.self,
            [
                FieldShape(1, "is_missing", .bool),
                FieldShape(2, "text", .string, bytesMax: 4096),
            ]),
        MessageShape(
            "WireOperatorFileOpened", TidemarkWire.WireOperatorFileOpened.self, WireJudge.WireOperatorFileOpened.self,
            [
                FieldShape(1, "failure", .string, bytesMax: 4096),
                FieldShape(2, "name", .string, bytesMax: 4096),
                FieldShape(3, "byte_count", .int64),
            ]),
        MessageShape(
            "WireOperatorFilePart", TidemarkWire.WireOperatorFilePart.self, WireJudge.WireOperatorFilePart.self,
            [
                FieldShape(1, "failure", .string, bytesMax: 4096),
                FieldShape(2, "content", .bytes, bytesMax: 65536),
            ]),
        MessageShape(
            "WireOperatorTaken", TidemarkWire.WireOperatorTaken.self, WireJudge.WireOperatorTaken.self,
            [
                FieldShape(1, "byte_count", .uint32),
            ]),
        MessageShape(
            "WireOperatorCancel", TidemarkWire.WireOperatorCancel.self, WireJudge.WireOperatorCancel.self,
            [
            ]),
        MessageShape(
            "WireOperatorServerMessage", TidemarkWire.WireOperatorServerMessage.self, WireJudge.WireOperatorServerMessage.self,
            [
                FieldShape(1, "output", .message("WireOperatorOutput"), oneof: 0),
                FieldShape(2, "question", .message("WireOperatorQuestion"), oneof: 0),
                FieldShape(3, "open_file", .message("WireOperatorOpenFile"), oneof: 0),
                FieldShape(4, "read_file", .message("WireOperatorReadFile"), oneof: 0),
                FieldShape(5, "end", .message("WireOperatorEnd"), oneof: 0),
            ]),
        MessageShape(
            "WireOperatorOutput", TidemarkWire.WireOperatorOutput.self, WireJudge.WireOperatorOutput.self,
            [
                FieldShape(1, "stream", .choice),
                FieldShape(2, "content", .bytes, bytesMax: 65536),
            ]),
        MessageShape(
            "WireOperatorQuestion", TidemarkWire.WireOperatorQuestion.self, WireJudge.WireOperatorQuestion.self,
            [
                FieldShape(1, "text", .string, bytesMax: 16384),
            ]),
        MessageShape(
            "WireOperatorOpenFile", TidemarkWire.WireOperatorOpenFile.self, WireJudge.WireOperatorOpenFile.self,
            [
                FieldShape(1, "path", .string, bytesMax: 65536),
            ]),
        MessageShape(
            "WireOperatorReadFile", TidemarkWire.WireOperatorReadFile.self, WireJudge.WireOperatorReadFile.self,
            [
                FieldShape(1, "file", .uint32),
            ]),
        MessageShape(
            "WireOperatorEnd", TidemarkWire.WireOperatorEnd.self, WireJudge.WireOperatorEnd.self,
            [
                FieldShape(1, "status", .int32),
            ]),
        MessageShape(
            "WireJoinPresence", TidemarkWire.WireJoinPresence.self, WireJudge.WireJoinPresence.self,
            [
                FieldShape(1, "database", .choice),
                FieldShape(2, "zone", .message("WireZoneID")),
                FieldShape(3, "share", .string, bytesMax: 65536),
                FieldShape(4, "state", .bytes, bytesMax: 8192),
            ]),
        MessageShape(
            "WireJoinPresenceAnswer", TidemarkWire.WireJoinPresenceAnswer.self, WireJudge.WireJoinPresenceAnswer.self,
            [
                FieldShape(1, "topic", .uint64),
                FieldShape(2, "member", .uint64),
                FieldShape(3, "members", .message("WirePresenceMember"), elementsMax: 1024),
                FieldShape(4, "life_milliseconds", .uint32),
            ]),
        MessageShape(
            "WirePublishPresence", TidemarkWire.WirePublishPresence.self, WireJudge.WirePublishPresence.self,
            [
                FieldShape(1, "topic", .uint64),
                FieldShape(2, "sets_state", .bool),
                FieldShape(3, "state", .bytes, bytesMax: 8192),
                FieldShape(4, "sends_message", .bool),
                FieldShape(5, "message", .bytes, bytesMax: 8192),
            ]),
        MessageShape(
            "WirePublishPresenceAnswer", TidemarkWire.WirePublishPresenceAnswer.self, WireJudge.WirePublishPresenceAnswer.self,
            [
            ]),
        MessageShape(
            "WireLeavePresence", TidemarkWire.WireLeavePresence.self, WireJudge.WireLeavePresence.self,
            [
                FieldShape(1, "topic", .uint64),
            ]),
        MessageShape(
            "WireLeavePresenceAnswer", TidemarkWire.WireLeavePresenceAnswer.self, WireJudge.WireLeavePresenceAnswer.self,
            [
            ]),
        MessageShape(
            "WirePresenceMember", TidemarkWire.WirePresenceMember.self, WireJudge.WirePresenceMember.self,
            [
                FieldShape(1, "number", .uint64),
                FieldShape(2, "user", .string, bytesMax: 4096),
                FieldShape(3, "state", .bytes, bytesMax: 8192),
            ]),
        MessageShape(
            "WirePresenceMessage", TidemarkWire.WirePresenceMessage.self, WireJudge.WirePresenceMessage.self,
            [
                FieldShape(1, "member", .uint64),
                FieldShape(2, "user", .string, bytesMax: 4096),
                FieldShape(3, "content", .bytes, bytesMax: 8192),
            ]),
        MessageShape(
            "WirePresencePush", TidemarkWire.WirePresencePush.self, WireJudge.WirePresencePush.self,
            [
                FieldShape(1, "topic", .uint64),
                FieldShape(2, "members", .message("WirePresenceMember"), elementsMax: 1024),
                FieldShape(3, "gone", .uint64, elementsMax: 1024),
                FieldShape(4, "is_whole", .bool),
                FieldShape(5, "messages", .message("WirePresenceMessage"), elementsMax: 1024),
                FieldShape(6, "end", .message("WireFailure")),
            ]),
        MessageShape(
            "WireQuery", TidemarkWire.WireQuery.self, WireJudge.WireQuery.self,
            [
                FieldShape(1, "record_type", .string, bytesMax: 65536),
                FieldShape(2, "zone", .message("WireZoneID")),
                FieldShape(3, "predicate", .message("WirePredicate")),
                FieldShape(4, "sorts", .message("WireSort"), elementsMax: 20),
            ]),
        MessageShape(
            "WirePredicate", TidemarkWire.WirePredicate.self, WireJudge.WirePredicate.self, depthMax: 40, countInAllMax: 2000,
            [
                FieldShape(1, "always", .bool, oneof: 0),
                FieldShape(2, "compare", .message("WireComparison"), oneof: 0),
                FieldShape(3, "between", .message("WireBetween"), oneof: 0),
                FieldShape(4, "begins_with", .message("WireBeginsWith"), oneof: 0),
                FieldShape(5, "is_in", .message("WireKeyValues"), oneof: 0),
                FieldShape(6, "contains", .message("WireKeyValue"), oneof: 0),
                FieldShape(7, "contains_any", .message("WireKeyValues"), oneof: 0),
                FieldShape(8, "is_present", .message("WirePresence"), oneof: 0),
                FieldShape(9, "is_near", .message("WireNear"), oneof: 0),
                FieldShape(10, "search", .string, bytesMax: 131072, oneof: 0),
                FieldShape(11, "and", .message("WirePredicates"), oneof: 0),
                FieldShape(12, "not", .message("WirePredicate"), oneof: 0),
            ]),
        MessageShape(
            "WirePredicates", TidemarkWire.WirePredicates.self, WireJudge.WirePredicates.self,
            [
                FieldShape(1, "parts", .message("WirePredicate"), elementsMax: 2000),
            ]),
        MessageShape(
            "WireComparison", TidemarkWire.WireComparison.self, WireJudge.WireComparison.self,
            [
                FieldShape(1, "key", .string, bytesMax: 65536),
                FieldShape(2, "operator", .choice),
                FieldShape(3, "value", .message("WireQueryValue")),
            ]),
        MessageShape(
            "WireBetween", TidemarkWire.WireBetween.self, WireJudge.WireBetween.self,
            [
                FieldShape(1, "key", .string, bytesMax: 65536),
                FieldShape(2, "low", .message("WireQueryValue")),
                FieldShape(3, "high", .message("WireQueryValue")),
            ]),
        MessageShape(
            "WireBeginsWith", TidemarkWire.WireBeginsWith.self, WireJudge.WireBeginsWith.self,
            [
                FieldShape(1, "key", .string, bytesMax: 65536),
                FieldShape(2, "prefix", .string, bytesMax: 131072),
            ]),
        MessageShape(
            "WireKeyValue", TidemarkWire.WireKeyValue.self, WireJudge.WireKeyValue.self,
            [
                FieldShape(1, "key", .string, bytesMax: 65536),
                FieldShape(2, "value", .message("WireQueryValue")),
            ]),
        MessageShape(
            "WireKeyValues", TidemarkWire.WireKeyValues.self, WireJudge.WireKeyValues.self,
            [
                FieldShape(1, "key", .string, bytesMax: 65536),
                FieldShape(2, "values", .message("WireQueryValue"), elementsMax: 2000),
            ]),
        MessageShape(
            "WirePresence", TidemarkWire.WirePresence.self, WireJudge.WirePresence.self,
            [
                FieldShape(1, "key", .string, bytesMax: 65536),
                FieldShape(2, "is_present", .bool),
            ]),
        MessageShape(
            "WireNear", TidemarkWire.WireNear.self, WireJudge.WireNear.self,
            [
                FieldShape(1, "key", .string, bytesMax: 65536),
                FieldShape(2, "location", .message("WireQueryLocation")),
                FieldShape(3, "metres", .double),
                FieldShape(4, "is_inclusive", .bool),
            ]),
        MessageShape(
            "WireQueryLocation", TidemarkWire.WireQueryLocation.self, WireJudge.WireQueryLocation.self,
            [
                FieldShape(1, "latitude", .double),
                FieldShape(2, "longitude", .double),
            ]),
        MessageShape(
            "WireQueryValue", TidemarkWire.WireQueryValue.self, WireJudge.WireQueryValue.self,
            [
                FieldShape(1, "string", .string, bytesMax: 131072, oneof: 0),
                FieldShape(2, "int64", .sint64, oneof: 0),
                FieldShape(3, "double", .double, oneof: 0),
                FieldShape(4, "date", .sint64, oneof: 0),
                FieldShape(5, "reference", .message("WireQueryReference"), oneof: 0),
            ]),
        MessageShape(
            "WireQueryReference", TidemarkWire.WireQueryReference.self, WireJudge.WireQueryReference.self,
            [
                FieldShape(1, "record_name", .string, bytesMax: 65536),
                FieldShape(2, "zone", .message("WireZoneID")),
            ]),
        MessageShape(
            "WireSort", TidemarkWire.WireSort.self, WireJudge.WireSort.self,
            [
                FieldShape(1, "key", .string, bytesMax: 65536),
                FieldShape(2, "is_descending", .bool),
                FieldShape(3, "origin", .message("WireQueryLocation")),
            ]),
        MessageShape(
            "WireQueryRecords", TidemarkWire.WireQueryRecords.self, WireJudge.WireQueryRecords.self,
            [
                FieldShape(1, "database", .choice),
                FieldShape(2, "query", .message("WireQuery")),
                FieldShape(3, "cursor", .bytes, bytesMax: 2097152),
                FieldShape(4, "desired_keys", .message("WireDesiredKeys")),
                FieldShape(5, "limit", .uint32),
            ]),
        MessageShape(
            "WireQueryRecordsAnswer", TidemarkWire.WireQueryRecordsAnswer.self, WireJudge.WireQueryRecordsAnswer.self,
            [
                FieldShape(1, "matches", .message("WireQueryMatch"), elementsMax: 65536),
                FieldShape(2, "cursor", .bytes),
            ]),
        MessageShape(
            "WireQueryMatch", TidemarkWire.WireQueryMatch.self, WireJudge.WireQueryMatch.self,
            [
                FieldShape(1, "record", .message("WireRecord")),
                FieldShape(2, "zone", .message("WireZoneID")),
            ]),
        MessageShape(
            "WireRecord", TidemarkWire.WireRecord.self, WireJudge.WireRecord.self,
            [
                FieldShape(1, "name", .string),
                FieldShape(2, "type", .string),
                FieldShape(3, "fields", .bytes),
                FieldShape(4, "tag", .bytes),
                FieldShape(5, "created_at", .int64),
                FieldShape(6, "modified_at", .int64),
                FieldShape(7, "created_by", .string),
                FieldShape(8, "modified_by", .string),
                FieldShape(9, "parent", .string),
                FieldShape(10, "share", .message("WireShare")),
                FieldShape(11, "share_name", .string, bytesMax: 65536),
            ]),
        MessageShape(
            "WireModifyRecords", TidemarkWire.WireModifyRecords.self, WireJudge.WireModifyRecords.self,
            [
                FieldShape(1, "database", .choice),
                FieldShape(2, "stamp", .message("WireRequestStamp")),
                FieldShape(3, "policy", .choice),
                FieldShape(4, "atomic", .bool),
                FieldShape(5, "zones", .message("WireZoneModifications"), elementsMax: 4096),
                FieldShape(6, "client_change_token", .bytes, bytesMax: 65536),
            ]),
        MessageShape(
            "WireZoneModifications", TidemarkWire.WireZoneModifications.self, WireJudge.WireZoneModifications.self,
            [
                FieldShape(1, "zone", .message("WireZoneID")),
                FieldShape(2, "saves", .message("WireRecordSave"), elementsMax: 4096),
                FieldShape(3, "deletes", .string, elementsMax: 4096, bytesMax: 65536),
            ]),
        MessageShape(
            "WireRecordSave", TidemarkWire.WireRecordSave.self, WireJudge.WireRecordSave.self,
            [
                FieldShape(1, "name", .string, bytesMax: 65536),
                FieldShape(2, "type", .string, bytesMax: 65536),
                FieldShape(3, "tag", .bytes, bytesMax: 4096),
                FieldShape(4, "fields", .bytes, bytesMax: 4194304),
                FieldShape(5, "parent_change", .choice),
                FieldShape(6, "parent", .string, bytesMax: 65536),
                FieldShape(7, "share", .message("WireShareSave")),
            ]),
        MessageShape(
            "WireModifyRecordsAnswer", TidemarkWire.WireModifyRecordsAnswer.self, WireJudge.WireModifyRecordsAnswer.self,
            [
                FieldShape(1, "zones", .message("WireZoneModificationResults"), elementsMax: 65536),
            ]),
        MessageShape(
            "WireZoneModificationResults", TidemarkWire.WireZoneModificationResults.self, WireJudge.WireZoneModificationResults.self,
            [
                FieldShape(1, "saves", .message("WireSaveResult"), elementsMax: 65536),
                FieldShape(2, "deletes", .message("WireDeleteResult"), elementsMax: 65536),
            ]),
        MessageShape(
            "WireSaveResult", TidemarkWire.WireSaveResult.self, WireJudge.WireSaveResult.self,
            [
                FieldShape(1, "saved", .message("WireSavedRecord"), oneof: 0),
                FieldShape(2, "failure", .message("WireSaveFailure"), oneof: 0),
            ]),
        MessageShape(
            "WireSavedRecord", TidemarkWire.WireSavedRecord.self, WireJudge.WireSavedRecord.self,
            [
                FieldShape(1, "tag", .bytes),
                FieldShape(2, "created_at", .int64),
                FieldShape(3, "modified_at", .int64),
                FieldShape(4, "created_by", .string),
                FieldShape(5, "modified_by", .string),
                FieldShape(6, "record", .message("WireRecord")),
                FieldShape(7, "must_fetch", .bool),
            ]),
        MessageShape(
            "WireSaveFailure", TidemarkWire.WireSaveFailure.self, WireJudge.WireSaveFailure.self,
            [
                FieldShape(1, "failure", .message("WireFailure")),
                FieldShape(2, "server_record", .message("WireRecord")),
            ]),
        MessageShape(
            "WireDeleteResult", TidemarkWire.WireDeleteResult.self, WireJudge.WireDeleteResult.self,
            [
                FieldShape(1, "deleted", .message("WireDone"), oneof: 0),
                FieldShape(2, "failure", .message("WireFailure"), oneof: 0),
            ]),
        MessageShape(
            "WireFetchRecords", TidemarkWire.WireFetchRecords.self, WireJudge.WireFetchRecords.self,
            [
                FieldShape(1, "database", .choice),
                FieldShape(2, "zones", .message("WireZoneRecordNames"), elementsMax: 4096),
                FieldShape(3, "desired_keys", .message("WireDesiredKeys")),
            ]),
        MessageShape(
            "WireZoneRecordNames", TidemarkWire.WireZoneRecordNames.self, WireJudge.WireZoneRecordNames.self,
            [
                FieldShape(1, "zone", .message("WireZoneID")),
                FieldShape(2, "names", .string, elementsMax: 4096, bytesMax: 65536),
            ]),
        MessageShape(
            "WireFetchRecordsAnswer", TidemarkWire.WireFetchRecordsAnswer.self, WireJudge.WireFetchRecordsAnswer.self,
            [
                FieldShape(1, "results", .message("WireRecordResult"), elementsMax: 65536),
                FieldShape(2, "covered", .uint32),
            ]),
        MessageShape(
            "WireRecordResult", TidemarkWire.WireRecordResult.self, WireJudge.WireRecordResult.self,
            [
                FieldShape(1, "record", .message("WireRecord"), oneof: 0),
                FieldShape(2, "failure", .message("WireFailure"), oneof: 0),
            ]),
        MessageShape(
            "WireShareSave", TidemarkWire.WireShareSave.self, WireJudge.WireShareSave.self,
            [
                FieldShape(1, "public_permission", .choice),
                FieldShape(2, "participants", .message("WireParticipantSave"), elementsMax: 256),
                FieldShape(3, "sets_participants", .bool),
                FieldShape(4, "access_requests", .choice),
                FieldShape(5, "denied", .string, elementsMax: 512, bytesMax: 4096),
                FieldShape(6, "blocked", .string, elementsMax: 512, bytesMax: 4096),
                FieldShape(7, "unblocked", .string, elementsMax: 512, bytesMax: 4096),
                FieldShape(8, "root", .string, bytesMax: 65536),
            ]),
        MessageShape(
            "WireParticipantSave", TidemarkWire.WireParticipantSave.self, WireJudge.WireParticipantSave.self,
            [
                FieldShape(1, "id", .bytes, bytesMax: 1024),
                FieldShape(2, "user", .string, bytesMax: 4096),
                FieldShape(3, "email", .string, bytesMax: 4096),
                FieldShape(4, "phone", .string, bytesMax: 4096),
                FieldShape(5, "role", .choice),
                FieldShape(6, "permission", .choice),
                FieldShape(7, "by_link", .bool),
            ]),
        MessageShape(
            "WireShare", TidemarkWire.WireShare.self, WireJudge.WireShare.self,
            [
                FieldShape(1, "public_permission", .choice),
                FieldShape(2, "participants", .message("WireParticipant"), elementsMax: 1000),
                FieldShape(3, "link", .string, bytesMax: 1024),
                FieldShape(4, "allows_access_requests", .bool),
                FieldShape(5, "requesters", .message("WireAccessRequester"), elementsMax: 1000),
                FieldShape(6, "blocked", .message("WireAccessRequester"), elementsMax: 1000),
                FieldShape(7, "root", .string, bytesMax: 65536),
            ]),
        MessageShape(
            "WireAccessRequester", TidemarkWire.WireAccessRequester.self, WireJudge.WireAccessRequester.self,
            [
                FieldShape(1, "user", .string, bytesMax: 65536),
                FieldShape(2, "given_name", .string, bytesMax: 1024),
                FieldShape(3, "family_name", .string, bytesMax: 1024),
            ]),
        MessageShape(
            "WireParticipant", TidemarkWire.WireParticipant.self, WireJudge.WireParticipant.self,
            [
                FieldShape(1, "id", .bytes, bytesMax: 1024),
                FieldShape(2, "user", .string, bytesMax: 65536),
                FieldShape(3, "is_caller", .bool),
                FieldShape(4, "email", .string, bytesMax: 65536),
                FieldShape(5, "phone", .string, bytesMax: 65536),
                FieldShape(6, "role", .choice),
                FieldShape(7, "permission", .choice),
                FieldShape(8, "status", .choice),
                FieldShape(11, "given_name", .string, bytesMax: 1024),
                FieldShape(12, "family_name", .string, bytesMax: 1024),
                FieldShape(13, "link", .string, bytesMax: 1024),
                FieldShape(14, "added_at", .int64),
                FieldShape(15, "is_approved_requester", .bool),
            ]),
        MessageShape(
            "WireFetchShareMetadata", TidemarkWire.WireFetchShareMetadata.self, WireJudge.WireFetchShareMetadata.self,
            [
                FieldShape(1, "links", .string, elementsMax: 100, bytesMax: 1024),
                FieldShape(2, "wants_roots", .bool),
                FieldShape(3, "root_keys", .message("WireDesiredKeys")),
            ]),
        MessageShape(
            "WireFetchShareMetadataAnswer", TidemarkWire.WireFetchShareMetadataAnswer.self, WireJudge.WireFetchShareMetadataAnswer.self,
            [
                FieldShape(1, "results", .message("WireShareMetadataResult"), elementsMax: 1000),
            ]),
        MessageShape(
            "WireShareMetadataResult", TidemarkWire.WireShareMetadataResult.self, WireJudge.WireShareMetadataResult.self,
            [
                FieldShape(1, "metadata", .message("WireShareMetadata"), oneof: 0),
                FieldShape(2, "failure", .message("WireFailure"), oneof: 0),
            ]),
        MessageShape(
            "WireShareMetadata", TidemarkWire.WireShareMetadata.self, WireJudge.WireShareMetadata.self,
            [
                FieldShape(1, "zone", .message("WireZoneID")),
                FieldShape(2, "share", .message("WireRecord")),
                FieldShape(3, "role", .choice),
                FieldShape(4, "status", .choice),
                FieldShape(5, "permission", .choice),
                FieldShape(6, "owner", .message("WireParticipant")),
                FieldShape(7, "root", .string, bytesMax: 65536),
                FieldShape(8, "root_record", .message("WireRecord")),
            ]),
        MessageShape(
            "WireAcceptShares", TidemarkWire.WireAcceptShares.self, WireJudge.WireAcceptShares.self,
            [
                FieldShape(1, "links", .string, elementsMax: 100, bytesMax: 1024),
                FieldShape(2, "declines", .bool),
            ]),
        MessageShape(
            "WireAcceptSharesAnswer", TidemarkWire.WireAcceptSharesAnswer.self, WireJudge.WireAcceptSharesAnswer.self,
            [
                FieldShape(1, "results", .message("WireShareMetadataResult"), elementsMax: 1000),
            ]),
        MessageShape(
            "WireFetchShareParticipants", TidemarkWire.WireFetchShareParticipants.self, WireJudge.WireFetchShareParticipants.self,
            [
                FieldShape(1, "lookups", .message("WireParticipantLookup"), elementsMax: 100),
            ]),
        MessageShape(
            "WireParticipantLookup", TidemarkWire.WireParticipantLookup.self, WireJudge.WireParticipantLookup.self,
            [
                FieldShape(1, "user", .string, bytesMax: 4096),
                FieldShape(2, "email", .string, bytesMax: 4096),
                FieldShape(3, "phone", .string, bytesMax: 4096),
            ]),
        MessageShape(
            "WireFetchShareParticipantsAnswer", TidemarkWire.WireFetchShareParticipantsAnswer.self, WireJudge.WireFetchShareParticipantsAnswer.self,
            [
                FieldShape(1, "results", .message("WireParticipantLookupResult"), elementsMax: 1000),
            ]),
        MessageShape(
            "WireParticipantLookupResult", TidemarkWire.WireParticipantLookupResult.self, WireJudge.WireParticipantLookupResult.self,
            [
                FieldShape(1, "person", .message("WireFoundPerson"), oneof: 0),
                FieldShape(2, "failure", .message("WireFailure"), oneof: 0),
            ]),
        MessageShape(
            "WireFoundPerson", TidemarkWire.WireFoundPerson.self, WireJudge.WireFoundPerson.self,
            [
                FieldShape(1, "has_account", .bool),
            ]),
        MessageShape(
            "WireRequestShareAccess", TidemarkWire.WireRequestShareAccess.self, WireJudge.WireRequestShareAccess.self,
            [
                FieldShape(1, "links", .string, elementsMax: 100, bytesMax: 1024),
            ]),
        MessageShape(
            "WireRequestShareAccessAnswer", TidemarkWire.WireRequestShareAccessAnswer.self, WireJudge.WireRequestShareAccessAnswer.self,
            [
                FieldShape(1, "results", .message("WireShareAccessResult"), elementsMax: 1000),
            ]),
        MessageShape(
            "WireShareAccessResult", TidemarkWire.WireShareAccessResult.self, WireJudge.WireShareAccessResult.self,
            [
                FieldShape(1, "failure", .message("WireFailure")),
            ]),
        MessageShape(
            "WireSubscription", TidemarkWire.WireSubscription.self, WireJudge.WireSubscription.self,
            [
                FieldShape(1, "id", .string, bytesMax: 65536),
                FieldShape(2, "kind", .choice),
                FieldShape(3, "record_type", .string, bytesMax: 65536),
                FieldShape(4, "notification_info", .message("WireNotificationInfo")),
                FieldShape(5, "zone", .message("WireZoneID")),
                FieldShape(6, "predicate", .bytes, bytesMax: 131072),
                FieldShape(7, "options", .uint32),
            ]),
        MessageShape(
            "WireNotificationInfo", TidemarkWire.WireNotificationInfo.self, WireJudge.WireNotificationInfo.self, keepsUnknownFields: true,
            [
                FieldShape(1, "alert_body", .string, bytesMax: 65536),
                FieldShape(2, "alert_localization_key", .string, bytesMax: 65536),
                FieldShape(3, "alert_localization_args", .string, elementsMax: 2048, bytesMax: 65536),
                FieldShape(4, "alert_action_localization_key", .string, bytesMax: 65536),
                FieldShape(5, "alert_launch_image", .string, bytesMax: 65536),
                FieldShape(6, "sound_name", .string, bytesMax: 65536),
                FieldShape(7, "should_badge", .bool),
                FieldShape(8, "should_send_content_available", .bool),
                FieldShape(9, "should_send_mutable_content", .bool),
                FieldShape(10, "title", .string, bytesMax: 65536),
                FieldShape(11, "title_localization_key", .string, bytesMax: 65536),
                FieldShape(12, "title_localization_args", .string, elementsMax: 2048, bytesMax: 65536),
                FieldShape(13, "subtitle", .string, bytesMax: 65536),
                FieldShape(14, "subtitle_localization_key", .string, bytesMax: 65536),
                FieldShape(15, "subtitle_localization_args", .string, elementsMax: 2048, bytesMax: 65536),
                FieldShape(16, "category", .string, bytesMax: 65536),
                FieldShape(17, "collapse_id_key", .string, bytesMax: 65536),
                FieldShape(18, "desired_keys", .string, elementsMax: 2048, bytesMax: 65536),
            ]),
        MessageShape(
            "WireModifySubscriptions", TidemarkWire.WireModifySubscriptions.self, WireJudge.WireModifySubscriptions.self,
            [
                FieldShape(1, "database", .choice),
                FieldShape(2, "saves", .message("WireSubscription"), elementsMax: 4096),
                FieldShape(3, "deletes", .string, elementsMax: 4096, bytesMax: 65536),
            ]),
        MessageShape(
            "WireModifySubscriptionsAnswer", TidemarkWire.WireModifySubscriptionsAnswer.self, WireJudge.WireModifySubscriptionsAnswer.self,
            [
                FieldShape(1, "saves", .message("WireSubscriptionResult"), elementsMax: 65536),
                FieldShape(2, "deletes", .message("WireSubscriptionResult"), elementsMax: 65536),
            ]),
        MessageShape(
            "WireFetchSubscriptions", TidemarkWire.WireFetchSubscriptions.self, WireJudge.WireFetchSubscriptions.self,
            [
                FieldShape(1, "database", .choice),
                FieldShape(2, "ids", .string, elementsMax: 4096, bytesMax: 65536),
                FieldShape(3, "cursor", .bytes, bytesMax: 1024),
                FieldShape(4, "in_pages", .bool),
            ]),
        MessageShape(
            "WireFetchSubscriptionsAnswer", TidemarkWire.WireFetchSubscriptionsAnswer.self, WireJudge.WireFetchSubscriptionsAnswer.self,
            [
                FieldShape(1, "subscriptions", .message("WireSubscriptionResult"), elementsMax: 65536),
                FieldShape(2, "cursor", .bytes),
            ]),
        MessageShape(
            "WireSubscriptionResult", TidemarkWire.WireSubscriptionResult.self, WireJudge.WireSubscriptionResult.self,
            [
                FieldShape(1, "subscription", .message("WireSubscription"), oneof: 0),
                FieldShape(2, "failure", .message("WireFailure"), oneof: 0),
                FieldShape(3, "done", .message("WireDone"), oneof: 0),
            ]),
        MessageShape(
            "WirePush", TidemarkWire.WirePush.self, WireJudge.WirePush.self,
            [
                FieldShape(1, "subscription_id", .string),
                FieldShape(2, "database", .choice),
                FieldShape(3, "kind", .choice),
                FieldShape(4, "zones", .message("WireZoneID"), elementsMax: 65536),
                FieldShape(5, "changes", .message("WirePushedChanges")),
                FieldShape(6, "query", .message("WireQueryNews")),
                FieldShape(7, "alert", .message("WireNotificationInfo")),
                FieldShape(8, "is_pruned", .bool),
            ]),
        MessageShape(
            "WireQueryNews", TidemarkWire.WireQueryNews.self, WireJudge.WireQueryNews.self,
            [
                FieldShape(1, "reason", .choice),
                FieldShape(2, "record_name", .string),
                FieldShape(3, "zone", .message("WireZoneID")),
                FieldShape(4, "fields", .bytes),
            ]),
        MessageShape(
            "WirePushedChanges", TidemarkWire.WirePushedChanges.self, WireJudge.WirePushedChanges.self,
            [
                FieldShape(1, "database_token", .bytes),
                FieldShape(2, "zone", .message("WireZoneID")),
                FieldShape(3, "zone_token", .bytes),
                FieldShape(4, "answer", .message("WireFetchDatabaseChangesAnswer")),
            ]),
        MessageShape(
            "WireZoneID", TidemarkWire.WireZoneID.self, WireJudge.WireZoneID.self,
            [
                FieldShape(1, "name", .string, bytesMax: 4096),
                FieldShape(2, "owner", .string, bytesMax: 4096),
            ]),
        MessageShape(
            "WireZone", TidemarkWire.WireZone.self, WireJudge.WireZone.self,
            [
                FieldShape(1, "id", .message("WireZoneID")),
                FieldShape(2, "capabilities", .uint32),
                FieldShape(3, "encryption_scope", .choice),
                FieldShape(4, "is_shared", .bool),
            ]),
        MessageShape(
            "WireModifyZones", TidemarkWire.WireModifyZones.self, WireJudge.WireModifyZones.self,
            [
                FieldShape(1, "database", .choice),
                FieldShape(2, "stamp", .message("WireRequestStamp")),
                FieldShape(3, "saves", .message("WireZoneID"), elementsMax: 4096),
                FieldShape(4, "deletes", .message("WireZoneID"), elementsMax: 4096),
                FieldShape(5, "encryption_scopes", .choice, elementsMax: 4096),
            ]),
        MessageShape(
            "WireModifyZonesAnswer", TidemarkWire.WireModifyZonesAnswer.self, WireJudge.WireModifyZonesAnswer.self,
            [
                FieldShape(1, "saves", .message("WireZoneResult"), elementsMax: 65536),
                FieldShape(2, "deletes", .message("WireZoneResult"), elementsMax: 65536),
            ]),
        MessageShape(
            "WireZoneResult", TidemarkWire.WireZoneResult.self, WireJudge.WireZoneResult.self,
            [
                FieldShape(1, "zone", .message("WireZone"), oneof: 0),
                FieldShape(2, "failure", .message("WireFailure"), oneof: 0),
                FieldShape(3, "done", .message("WireDone"), oneof: 0),
            ]),
        MessageShape(
            "WireDone", TidemarkWire.WireDone.self, WireJudge.WireDone.self,
            [
            ]),
        MessageShape(
            "WireFetchZones", TidemarkWire.WireFetchZones.self, WireJudge.WireFetchZones.self,
            [
                FieldShape(1, "database", .choice),
                FieldShape(2, "zones", .message("WireZoneID"), elementsMax: 4096),
                FieldShape(3, "cursor", .bytes, bytesMax: 1024),
            ]),
        MessageShape(
            "WireFetchZonesAnswer", TidemarkWire.WireFetchZonesAnswer.self, WireJudge.WireFetchZonesAnswer.self,
            [
                FieldShape(1, "zones", .message("WireZoneResult"), elementsMax: 65536),
                FieldShape(2, "cursor", .bytes),
            ]),
    ]
}
