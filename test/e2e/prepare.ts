import { installN8n } from '../../playground/install';
import { packPackage } from '../../playground/n8n';
import { N8N } from './field';

/** Installs n8n and packs the package, before the suites run side by side. */
export default async function prepare(): Promise<void> {
	await installN8n(N8N);
	process.env.PACKAGE_TARBALL ??= await packPackage();
}
