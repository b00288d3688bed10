// SPDX-License-Identifier: Apache-2.0

/// One step of the database schema.
package struct Migration: Sendable {
    package let number: Int
    /// The name of the file without its ending: `0004_create_zones`.
    package let name: String
    /// SHA-256 of the file, in hexadecimal digits.
    package let checksum: String
    package let sql: String
}

/// Every step in order. The files are in `migrations/`. The checksums are those of released files, so the tests notice
/// an edit to one.
package enum Migrations {
    package static let all: [Migration] = steps.enumerated().map { index, step in
        Migration(
            number: index + 1, name: step.name, checksum: step.checksum,
            sql: String(decoding: step.file, as: UTF8.self))
    }

    /// The number of the step since which hierarchies can be shared. A server that does not know it opens the whole zone.
    package static let hierarchies = 47

    private static let steps: [(name: String, checksum: String, file: [UInt8])] = [
        (
            "0001_create_store", "a4c9be460a7cb10b00ec2e7423cf3543788b1d241a970227badb59d1d2ac7265",
            PackageResources._001_create_store_sql
        ),
        (
            "0002_create_accounts", "1a9a1140ff8ba8d29f22aca9cc364bf728d09ee12fd8950dbc265b7c6f7edb5d",
            PackageResources._002_create_accounts_sql
        ),
        (
            "0003_create_containers", "3dad1480fae024da2145a273bead0cdf01c160be99dd683220c9bdbef704eee9",
            PackageResources._003_create_containers_sql
        ),
        (
            "0004_create_zones", "c3d406494c49e41662ec3ed94661cb00c225f6cede57487286adc947110ada76",
            PackageResources._004_create_zones_sql
        ),
        (
            "0005_create_records", "c5c9c45448caca3d8e71ab9b9e5dad712123ab2af46539dc47c089335e09c38c",
            PackageResources._005_create_records_sql
        ),
        (
            "0006_create_feeds", "83b5ce99d544dda6862f719cd1b420c78fae179e0843dbe43b6c856067706408",
            PackageResources._006_create_feeds_sql
        ),
        (
            "0007_create_subscriptions", "7f1d83766eb7a580cfda77563a1176e9912c7b739016f7ed60e36e524ca47317",
            PackageResources._007_create_subscriptions_sql
        ),
        (
            "0008_create_record_types", "9c497767503830d6f0e2eaceaa797d27b57dd49090b358dbe2ec94fbe8572025",
            PackageResources._008_create_record_types_sql
        ),
        (
            "0009_create_assets", "a8f486149322059d0ad23b6f6d58e34aeb105f55c6db6e3db6c035c7d6ce2e24",
            PackageResources._009_create_assets_sql
        ),
        (
            "0010_create_references", "02078ace01878529aeeca03bed4d210865359b176011d2525360690b4d3fa212",
            PackageResources._010_create_references_sql
        ),
        (
            "0011_add_encryption_scope", "e6a9535fc8c93305c2593e55d39a4839b9bee66942e19bbbe728bc427e8012d5",
            PackageResources._011_add_encryption_scope_sql
        ),
        (
            "0012_index_tombstones", "9b0a7bbd88c13948b840dce7c28ffcee7cf22692fa7fd5e3d2117a8c411aeed7",
            PackageResources._012_index_tombstones_sql
        ),
        (
            "0013_create_client_tokens", "122b353cb981216ca0b2a2f11cfbc3f278cd7ff36adb04c961ebcf52dab747d5",
            PackageResources._013_create_client_tokens_sql
        ),
        (
            "0014_add_largest_record", "5d54bba46b65e64d610d5ba42da12e605ebbaddcb92e0d0148399df6a4cbfb4b",
            PackageResources._014_add_largest_record_sql
        ),
        (
            "0015_add_index_values", "b292baabb17e22089f0d3e971068f4e9c3b9fc033a4886fc0b4fdeef97986dec",
            PackageResources._015_add_index_values_sql
        ),
        (
            "0016_create_keys", "4135809100d625c17026d5606d11c90b9ee601c6d6ca10bd75c682500309a399",
            PackageResources._016_create_keys_sql
        ),
        (
            "0017_add_operator_choices", "57da990f5b9b0a520bea532f2daf7d582a28735b9d95ebdb9c0e483291f51fe3",
            PackageResources._017_add_operator_choices_sql
        ),
        (
            "0018_add_quotas", "50f867a2d9960a384e2da25fd7f0dedb99028f69ace9677fb5a051b32bb13108",
            PackageResources._018_add_quotas_sql
        ),
        (
            "0019_add_shared_databases", "88c294baf85db6875866f93cba7b3ba5b80c461c4323dcf59112528a7c922a42",
            PackageResources._019_add_shared_databases_sql
        ),
        (
            "0020_add_zone_subscriptions", "1c41e8cdc163ca923cc5c395be77ce0b427082d56c18aafc51ec0f9d78480008",
            PackageResources._020_add_zone_subscriptions_sql
        ),
        (
            "0021_count_zone_writes", "8d54a9888480e583c4455a54e9e8455f4d5022a2fb7848b403151bdbba50e098",
            PackageResources._021_count_zone_writes_sql
        ),
        (
            "0022_count_memory_epochs", "6c1c640125239e011b3ff71c35fac473200adaf9672667aed922ffebd0e3d238",
            PackageResources._022_count_memory_epochs_sql
        ),
        (
            "0023_create_asset_senders", "548db565c85feb13f8d77a326b2187b00994b403c625c92892cfe86044aa8308",
            PackageResources._023_create_asset_senders_sql
        ),
        (
            "0024_add_account_quotas", "b5e3c9a274cd208bd6637a028dab3fb0d69b8c3b0170a267dafdc8e7b1a73480",
            PackageResources._024_add_account_quotas_sql
        ),
        (
            "0025_count_whole_records", "c1ff5930258a461a2cba7aafc2640ae9fcc2938d92c331d99f332445fceb85fd",
            PackageResources._025_count_whole_records_sql
        ),
        (
            "0026_count_tombstones", "ed83dfd8b3be370ebff80fd79fa6bc6748044581a0bc325af70ff074c39d17c4",
            PackageResources._026_count_tombstones_sql
        ),
        (
            "0027_number_client_tokens", "4c5a3f23304f60b14e4fd3bd823fa5308ae8fb854a5e8c6252030bf73f4b740f",
            PackageResources._027_number_client_tokens_sql
        ),
        (
            "0028_create_shares", "cc934564f48c7dcafce9b4e6373dd84d2218dca53dde1f56c51e03446efb8ee0",
            PackageResources._028_create_shares_sql
        ),
        (
            "0029_bound_participants_tokens", "0c7529e755006466c45e997ef43bd54e216618342355e8308d0a17c37b532f96",
            PackageResources._029_bound_participants_tokens_sql
        ),
        (
            "0030_keep_last_ends", "c533d4012d56a2b2529a04a18b0dbcfefad2b8d96b90bf64a91fa4e34729e879",
            PackageResources._030_keep_last_ends_sql
        ),
        (
            "0031_add_account_names", "56ab0857871e3e58c9a789cd679844fc4e6770a974f945f12e064cd6b012518f",
            PackageResources._031_add_account_names_sql
        ),
        (
            "0032_create_device_progress", "ddffd017757413895985efec44e3a2cfd152fe6d984c73ef47c574ba13ca466f",
            PackageResources._032_create_device_progress_sql
        ),
        (
            "0033_disable_accounts", "fbb002a27c11f91b02262afbfe4ebcb6ba847f0b3644641984c59ca3a2b21707",
            PackageResources._033_disable_accounts_sql
        ),
        (
            "0034_create_audit", "5541775a5d4abca882e060a471b32b3e71a93f3c1f8bfbb91bc3acf62b7e4f31",
            PackageResources._034_create_audit_sql
        ),
        (
            "0035_add_zone_digest", "80b44ac2404b139de7135b5271b7fa8936cd347fd90789d22f2cf1500e5dd2ea",
            PackageResources._035_add_zone_digest_sql
        ),
        (
            "0036_digest_records", "cf128668d687a99c128bf3cec5c315d7413b1cc379a378e4dd7a6dadb5532f75",
            PackageResources._036_digest_records_sql
        ),
        (
            "0037_create_operators", "09040a5273a83d084a16eb39f9d7995603bcb44a7dd246708c58c22f038e27f1",
            PackageResources._037_create_operators_sql
        ),
        (
            "0038_add_requests", "c0668e2f39d2891df92dbc9c5b4afed0e368e339bcad4a41ee11af7a6e70c2fc",
            PackageResources._038_add_requests_sql
        ),
        (
            "0039_close_containers", "1cb8a2f22542dc5c7cdbf2b333d914fa36e292517ffc4f7712a5f24dad58c228",
            PackageResources._039_close_containers_sql
        ),
        (
            "0040_create_identities", "f8a41ded72fe967ae1c1cb9002ffcc97c8a8ce31f79b845f7dbd088251010522",
            PackageResources._040_create_identities_sql
        ),
        (
            "0041_add_rate_limits", "fdfbca6ae30c903bd4e3680920fbba28c39ede430bd4cfcf520df2b86bc95dc6",
            PackageResources._041_add_rate_limits_sql
        ),
        (
            "0042_add_one_time_links", "3680fd1b3fd6f7df8cc02de53210882b3a9f890f62f25715ce806743acd94742",
            PackageResources._042_add_one_time_links_sql
        ),
        (
            "0043_add_access_requests", "d98ea9e037c726f8e74825286c2659b758287242b247d03bf5515cdc59ecd727",
            PackageResources._043_add_access_requests_sql
        ),
        (
            "0044_remember_lost_assets", "df09a1f4ac1eeb27e3d2bb767fc40fecfd20e6a94dfdafc57054053b7e18a071",
            PackageResources._044_remember_lost_assets_sql
        ),
        (
            "0045_add_default_rate", "fa735f3660f2169d7938e29e4f54e4bec8d1d9109b3097092b6eedab2ef40193",
            PackageResources._045_add_default_rate_sql
        ),
        (
            "0046_end_accounts", "e3aaed5dd1ac9dc818bfdb8aeb0526755d9076b7e0ec646c7895f8553eb999ff",
            PackageResources._046_end_accounts_sql
        ),
        (
            "0047_create_share_records", "19ef42ceefb98f4dd7537613c6e6b96858977811af5442f5d22a6df6eefd5bb3",
            PackageResources._047_create_share_records_sql
        ),
        (
            "0048_limit_connections", "abe40ba94e7136d3fe632728b789f4fedd2c00b43b9f9b24ce267ddab8f3c123",
            PackageResources._048_limit_connections_sql
        ),
        (
            "0049_add_query_subscriptions", "292548d8f2e6012c798670412745e151088e5708a265dbf0938a5843e72d174b",
            PackageResources._049_add_query_subscriptions_sql
        ),
        (
            "0050_retire_zone_keys", "ac913e42457df0a7c686b30734e3e07781c44e9270d2b616a56535db21269c90",
            PackageResources._050_retire_zone_keys_sql
        ),
        (
            "0051_count_public_use", "3f7191a459ae4ae44fc51b4b1c4c70a7323081e5c0f1f290349ccce9bb091c60",
            PackageResources._051_count_public_use_sql
        ),
        (
            "0052_add_key_grants", "69fdb374551cd76dd05c0a27872930c5595adda0540096b328fde97698f3e1d9",
            PackageResources._052_add_key_grants_sql
        ),
        (
            "0053_index_watched_types", "fac3f034331c10e7114559f5b365dec12e15d6a681a981684e9444dab4bd7510",
            PackageResources._053_index_watched_types_sql
        ),
    ]
}
