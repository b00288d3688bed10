// SPDX-License-Identifier: Apache-2.0

extension CKContainer {
    /// Sets the configuration of one container. It wins over the environment, the file and
    /// `TidemarkConfiguration.current`. For apps with containers on several servers, or with several accounts.
    ///
    /// Call it before the container is first used. Afterwards only its account changes (``signIn(token:)``).
    public class func configure(_ configuration: TidemarkConfiguration, for containerIdentifier: String) {
        TidemarkConfiguration.store(configuration, for: containerIdentifier)
    }
}
