// SPDX-License-Identifier: MIT OR Apache-2.0
// Perfetto's trace processor, as its web page runs it: reads a trace and answers queries.
//
// usage: node trace_processor.js FOLDER TRACE SQL ...
//
// FOLDER holds engine_bundle.js and trace_processor.wasm. Prints one line of JSON per query: a list
// of rows, each an object. The bundle is made for a web worker; what it expects there is stood in
// for below. Messages are protobuf (trace_processor.proto), few enough to be written by hand.
'use strict';
const fs = require('fs');
const path = require('path');
const vm = require('vm');

const [folder, tracePath, ...queries] = process.argv.slice(2);

function varint(value) {
	const bytes = [];
	for (value = BigInt(value); value >= 128n; value >>= 7n)
		bytes.push(Number(value & 127n) | 128);
	return Buffer.from([...bytes, Number(value)]);
}
const number = (field, value) => Buffer.concat([varint(field << 3), varint(value)]);
const bytes = (field, value) => Buffer.concat([varint((field << 3) | 2), varint(value.length), value]);

function* fields(message) {
	let at = 0;
	const read = () => {
		let value = 0n;
		for (let shift = 0n; ; shift += 7n) {
			const byte = message[at++];
			value |= BigInt(byte & 127) << shift;
			if (byte < 128)
				return value;
		}
	};
	while (at < message.length) {
		const key = Number(read());
		let value;
		if ((key & 7) === 0)
			value = read();
		else if ((key & 7) === 1)
			value = message.subarray(at, (at += 8));
		else if ((key & 7) === 5)
			value = message.subarray(at, (at += 4));
		else {
			const length = Number(read());
			value = message.subarray(at, (at += length));
		}
		yield [key >> 3, value];
	}
}

function packed(message) {
	return [...fields(Buffer.concat([...message].reduce((parts, byte) => {
		// Each number of a packed field, as a field of its own.
		if (parts.open === undefined)
			parts.push(Buffer.from([8]));
		parts.push(Buffer.from([byte]));
		parts.open = byte >= 128 ? true : undefined;
		return parts;
	}, [])))].map(([, value]) => value);
}

// Cells come by type: their kinds, then the values of each kind in one piece.
function decodeBatch(batch, columns, rows) {
	const parts = { 1: [], 2: [], 3: [], 4: [], 5: [] };
	for (const [field, value] of fields(batch)) {
		if (field === 1 || field === 2)
			parts[field].push(...packed(value));
		else if (field === 3)
			for (let i = 0; i < value.length; i += 8)
				parts[3].push(value.readDoubleLE(i));
		else if (field === 5)
			parts[5].push(...value.toString('utf8').split('\0'));
	}
	let row = [];
	for (const kind of parts[1].map(Number)) {
		if (kind === 1)
			row.push(null);
		else if (kind === 2)
			row.push(Number(BigInt.asIntN(64, parts[2].shift())));
		else if (kind === 3)
			row.push(parts[3].shift());
		else if (kind === 4)
			row.push(parts[5].shift());
		else
			row.push('?');
		if (row.length === columns.length) {
			rows.push(Object.fromEntries(row.map((cell, i) => [columns[i], cell])));
			row = [];
		}
	}
}

global.XMLHttpRequest = class {
	open(method, url) { this.url = url; }
	send() {
		const data = fs.readFileSync(path.join(folder, path.basename(this.url)));
		this.response = data.buffer.slice(data.byteOffset, data.byteOffset + data.length);
		this.status = 200;
	}
};
global.self = global;
global.location = { href: path.join(folder, 'engine_bundle.js') };
global.importScripts = () => {};
global.WorkerGlobalScope = class {};
process.type = 'renderer'; // else the bundle takes node for its host, for which it is not made
vm.runInThisContext(fs.readFileSync(path.join(folder, 'engine_bundle.js'), 'utf8'), 'engine_bundle.js');

const port = { postMessage: (data) => receive(Buffer.from(data)) };
let sequence = 0;
let waiting = null;

function receive(stream) {
	for (const [, message] of fields(stream)) {
		const found = {};
		for (const [field, value] of fields(message))
			found[field] = value;
		if (found[5])
			throw new Error(found[5].toString());
		waiting(found);
	}
}

function send(method, extra, answer) {
	const message = Buffer.concat([number(1, ++sequence), number(2, method), extra]);
	waiting = answer;
	port.onmessage({ data: new Uint8Array(bytes(1, message)) });
}

function query(sql) {
	const columns = [];
	const rows = [];
	send(3, bytes(103, bytes(1, Buffer.from(sql))), (found) => {
		for (const [field, value] of fields(found[203] || Buffer.alloc(0))) {
			if (field === 1)
				columns.push(value.toString());
			else if (field === 2 && value.length)
				throw new Error(`${sql}: ${value}`);
			else if (field === 3)
				decodeBatch(value, columns, rows);
		}
	});
	return rows;
}

async function main() {
	global.onmessage({ data: port });
	// The module is ready a few turns of the event loop later.
	await new Promise((done) => setTimeout(done, 300));
	const check = (field) => (found) => {
		for (const [inner, value] of fields(found[field] || Buffer.alloc(0)))
			if (inner === 2 && value.length)
				throw new Error(value.toString());
	};
	send(1, bytes(101, fs.readFileSync(tracePath)), check(201));
	send(2, Buffer.alloc(0), check(202));
	for (const sql of queries)
		console.log(JSON.stringify(query(sql)));
}

main().then(() => process.exit(0), (error) => {
	console.error(String(error && error.message ? error.message : error));
	process.exit(1);
});
