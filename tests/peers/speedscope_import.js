// SPDX-License-Identifier: MIT OR Apache-2.0
// speedscope's own import code, as its page has it: reads a profile and prints what it understood.
//
// usage: node speedscope_import.js BUNDLE.js PROFILE.json
//
// The bundle is one function that ends by drawing the page. Everything before that is run, and its
// import is handed out instead. Prints one JSON object per profile: its name, unit, weight, and the
// weight of each frame itself and in all.
'use strict';
const fs = require('fs');
const path = require('path');
const vm = require('vm');

const [bundle, profile] = process.argv.slice(2);
const source = fs.readFileSync(bundle, 'utf8');
const start = source.match(/async function (\w+)\(\w+,\w+\)\{return\(await \w+\)\.importProfileGroupFromText\(/);
const end = source.lastIndexOf('console.log(`speedscope v');
if (!start || end < 0) {
	console.error('this bundle is not built as expected');
	process.exit(77);
}

// What the page looks at before it is drawn.
const element = () => ({ style: {}, appendChild() {}, setAttribute() {}, addEventListener() {} });
global.window = global;
global.location = { hash: '', href: '', protocol: 'http:' };
global.matchMedia = () => ({ matches: false, addEventListener() {}, addListener() {} });
global.addEventListener = () => {};
global.localStorage = { getItem: () => null, setItem() {} };
global.document = { createElement: element, createTextNode: element, head: element(), body: element(),
	getElementById: () => null, querySelector: () => null, addEventListener() {}, documentElement: element() };
global.HTMLElement = class {};
global.FileReader = class {};
console.log = () => {};
vm.runInThisContext(`${source.slice(0, end)}globalThis.importText=${start[1]};})();`, 'speedscope.js');

async function main() {
	const group = await global.importText(path.basename(profile), fs.readFileSync(profile, 'utf8'));
	if (!group)
		throw new Error('not recognised');
	for (const one of group.profiles) {
		const frames = {};
		one.forEachFrame((frame) => {
			frames[frame.name] = [frame.getSelfWeight(), frame.getTotalWeight()];
		});
		let opened = 0;
		one.forEachCall(() => opened++, () => {});
		process.stdout.write(`${JSON.stringify({ name: one.getName(), unit: one.getWeightUnit(),
			weight: one.getTotalWeight(), nonIdle: one.getTotalNonIdleWeight(), opened, frames })}\n`);
	}
}

main().catch((error) => {
	console.error(String(error && error.stack ? error.stack : error));
	process.exit(1);
});
