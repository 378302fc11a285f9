/** Bundles in Claude Code's layout: what one holds and would run, those that are installed, and marketplaces. */
export { loadPlugin, type PluginPlace } from "../plugins/load-plugin.ts";
export type { BundlePluginManifest, LoadedBundlePlugin, PluginProblem, PluginRules, PluginServer } from "../plugins/plugin.ts";
export { type PluginExecutor, pluginExecutors } from "../plugins/plugin-executors.ts";
export {
  BundlePluginInstaller,
  type InstallerOptions,
  type InstallRequest,
  type InstallResult,
  type PluginInspection,
} from "../plugins/install.ts";
export { isPluginName } from "../plugins/plugin-name.ts";
export type { InstalledPlugin } from "../plugins/registry.ts";
export { describeSource, parseSource, type PluginSource } from "../plugins/plugin-source.ts";
export { type Marketplace, MarketplaceClient, type MarketplaceEntry, type MarketplaceOptions } from "../plugins/marketplaces.ts";
export { configurePlugin, type PluginSwitch, type PluginValues, switchPlugin } from "../hosting/plugin-settings.ts";
