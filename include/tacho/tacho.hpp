// SPDX-License-Identifier: MIT OR Apache-2.0
// Tacho for C++17: scopes that close themselves. Everything else is in tacho.h.
#ifndef TACHO_TACHO_HPP
#define TACHO_TACHO_HPP

#include <tacho/tacho.h>

#include <initializer_list>
#include <string>

namespace tacho
{

// A scope from construction to destruction. The name is looked up each time; in a hot loop use
// TACHO_SCOPE, which looks it up once.
class scope
{
      public:
	explicit scope(const char *name, const char *category = "") : entered_(tacho_on() != 0)
	{
		if (entered_)
			tacho_begin_name(name, category);
	}
	explicit scope(const std::string &name) : scope(name.c_str())
	{
	}
	~scope()
	{
		if (entered_)
			tacho_end_scope();
	}
	scope(const scope &) = delete;
	scope &operator=(const scope &) = delete;

      private:
	bool entered_;
};

// An operation with the shapes of its inputs, open from construction to destruction.
class op
{
      public:
	op(const char *name, std::initializer_list<tacho_tensor> inputs) : entered_(tacho_on() != 0)
	{
		if (entered_)
			tacho_op_begin(name, inputs.begin(), inputs.size());
	}
	~op()
	{
		if (entered_)
			tacho_end_scope();
	}
	op(const op &) = delete;
	op &operator=(const op &) = delete;

      private:
	bool entered_;
};

// A session of its own from construction to destruction, for a program that is not started by
// `tacho record`.
class session
{
      public:
	explicit session(const char *output = nullptr)
	{
		tacho_options options = TACHO_OPTIONS_INIT;
		options.output = output;
		error_ = tacho_start(&options);
	}
	~session()
	{
		tacho_stop();
	}
	session(const session &) = delete;
	session &operator=(const session &) = delete;
	explicit operator bool() const
	{
		return error_ == TACHO_OK;
	}

      private:
	int error_;
};

} // namespace tacho

#endif
