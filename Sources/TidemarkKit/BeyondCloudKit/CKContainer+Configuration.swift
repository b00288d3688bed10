// SPDX-License-Identifier: Apache-2.0

extension CKContainer {
    /// Has one container reached as this configuration says, whatever environment, file and
    /// `TidemarkConfiguration.current` say: for apps with containers on several servers, or with several accounts.
    ///
    /// To be called before the container is first used: afterwards only its account changes (``signIn(token:)``).
    public class func configure(_ configuration: TidemarkConfiguration, for containerIdentifier: String) {
        TidemarkConfiguration.store(configuration, for: containerIdentifier)
    }
}
