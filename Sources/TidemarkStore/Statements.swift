// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkPostgres

/// All statements of the store.
///
/// A statement is in one of these groups, or there is no way to call it. A test walks through them, prepares each on a
/// real server, and compares its parameters and columns with what the server says.
struct Statements: Sendable {
    let accounts = AccountStatements()
    let addresses = AddressStatements()
    let adminRecords = AdminRecordStatements()
    let adminSchema = AdminSchemaStatements()
    let assets = AssetStatements()
    let audit = AuditStatements()
    let backup = BackupStatements()
    let changes = ChangeStatements()
    let choices = ChoiceStatements()
    let closing = ClosingStatements()
    let compaction = CompactionStatements()
    let containers = ContainerStatements()
    let devices = DeviceStatements()
    let digests = DigestStatements()
    let ends = AccountEndStatements()
    let health = HealthStatements()
    let hierarchies = HierarchyStatements()
    let identities = IdentityStatements()
    let keys = KeyStatements()
    let keyGrants = KeyGrantStatements()
    let life = AccountLifeStatements()
    let lookups = LookupStatements()
    let losses = LossStatements()
    let steps = StepCountStatements()
    let migrations = MigrationStatements()
    let names = NameStatements()
    let notices = NoticeStatements()
    let operators = OperatorStatements()
    let publicUses = PublicUseStatements()
    let queries = QueryStatements()
    let quotas = QuotaStatements()
    let rates = RateStatements()
    let records = RecordStatements()
    let scan = ScanStatements()
    let schemas = SchemaStatements()
    let sharedFeeds = SharedFeedStatements()
    let sharing = SharingStatements()
    let subscriptions = SubscriptionStatements()
    let zones = ZoneStatements()
}

let sql = Statements()
