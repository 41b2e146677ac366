// SPDX-License-Identifier: MIT OR Apache-2.0
// Scopes in C++17: they close themselves, also when an exception passes through them.
//
//     scopes_cpp                        runs as any program does
//     tacho record -- scopes_cpp        records it
//
// A small image pipeline serves requests: decode, blur by a convolution, classify. Every
// seventeenth request is damaged, and decode() throws with two scopes open; the trace is balanced
// all the same.
//
// What to look at:
//     tacho::scope      a scope whose name is only known at run time      serve()
//     TACHO_SCOPE       one whose name never changes: looked up once      decode()
//     tacho::op         an operation with shapes, FLOPs and bytes         blur()
#include <tacho/tacho.hpp>

#include <cstdint>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

namespace
{

constexpr int side = 96;
constexpr int kernel_side = 5;
constexpr int request_count = 200;

using image = std::vector<std::uint32_t>;

struct request {
	int number;
	std::string kind; // which model it is for
	bool damaged;
};

image decode(const request &request)
{
	TACHO_SCOPE_CATEGORY("decode", "data");
	image pixels(side * side);
	std::uint32_t state = static_cast<std::uint32_t>(request.number) + 1;

	for (int y = 0; y < side; y++) {
		TACHO_SCOPE_CATEGORY("decode_row", "data");
		for (int x = 0; x < side; x++) {
			state = state * 1664525u + 1013904223u;
			pixels[y * side + x] = state >> 24;
		}
		if (request.damaged && y == side / 2)
			throw std::runtime_error("damaged image");
	}
	return pixels;
}

image blur(const image &pixels)
{
	static const std::int64_t image_shape[] = { 1, 1, side, side };
	static const std::int64_t kernel_shape[] = { 1, 1, kernel_side, kernel_side };
	constexpr int inside = side - kernel_side + 1;
	tacho::op op(
		"conv2d", { { image_shape, 4, TACHO_INT32 }, { kernel_shape, 4, TACHO_INT32 } });
	image out(inside * inside);

	for (int y = 0; y < inside; y++)
		for (int x = 0; x < inside; x++) {
			std::uint32_t sum = 0;

			for (int j = 0; j < kernel_side; j++)
				for (int i = 0; i < kernel_side; i++)
					sum += pixels[(y + j) * side + x + i] * (i + j);
			out[y * inside + x] = sum >> 7;
		}
	tacho_flops(2.0 * inside * inside * kernel_side * kernel_side);
	tacho_bytes((pixels.size() + out.size()) * sizeof(std::uint32_t));
	return out;
}

int classify(const image &pixels)
{
	TACHO_SCOPE("classify");
	std::uint32_t sum = 0;

	for (auto pixel : pixels)
		sum = sum * 31 + pixel;
	TACHO_ARG_INT("class", sum % 10);
	return static_cast<int>(sum % 10);
}

int serve(const request &request)
{
	tacho::scope scope("serve " + request.kind);

	TACHO_ARG_INT("request", request.number);
	return classify(blur(decode(request)));
}

} // namespace

int main()
{
	static const char *const kinds[] = { "small", "medium", "large" };
	int served = 0, refused = 0, sum = 0;

	tacho_metadata("pipeline", "decode, conv2d, classify");
	for (int i = 0; i < request_count; i++) {
		tacho_step(static_cast<std::uint64_t>(i));
		try {
			sum += serve({ i, kinds[i % 3], i % 17 == 16 });
			served++;
		} catch (const std::runtime_error &) {
			TACHO_MARK("refused");
			refused++;
		}
		TACHO_COUNTER_INT("served", "requests", served);
	}
	tacho_step_end();
	std::printf("served %d, refused %d, sum of classes %d\n", served, refused, sum);
	return served + refused == request_count && refused == 11 ? 0 : 1;
}
