#include "options.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <set>
#include <string_view>
#include <system_error>

namespace fashion_mnist {
namespace {

using Text = std::string_view;

/// One flag: how it is written, what stands behind it (nothing: it is a switch), what it does.
struct Flag {
  Text name;
  Text value;
  Text help;
  void (*apply)(Options&, const Flag&, Text);
};

int whole_number(const Flag& flag, Text text) {
  int number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc{} || stop != end || number < 1 || number > 1'000'000) {
    throw UsageError(std::string{flag.name} + " takes a whole number from 1 to 1000000, not '" +
                     std::string{text} + "'");
  }
  return number;
}

constexpr std::array flags{
    Flag{"--schedule", "NAME", "interleaved_1f1b (unless said), 1f1b or gpipe",
         [](Options& options, const Flag&, Text text) { options.schedule = text; }},
    Flag{"--ranks", "P", "ranks, as threads of this process, 4 unless said",
         [](Options& options, const Flag& flag, Text text) {
           options.ranks = whole_number(flag, text);
         }},
    Flag{"--processes", "P", "start P processes on this machine, one a rank, which talk over Gloo",
         [](Options& options, const Flag& flag, Text text) {
           options.processes = whole_number(flag, text);
         }},
    Flag{"--stages-per-rank", "V", "stages that each rank holds, 2 unless said",
         [](Options& options, const Flag& flag, Text text) {
           options.stages_per_rank = whole_number(flag, text);
         }},
    Flag{"--micro-batches", "M", "micro-batches of a step, 32 images each, 8 unless said",
         [](Options& options, const Flag& flag, Text text) {
           options.micro_batches = whole_number(flag, text);
         }},
    Flag{"--epochs", "N", "how often each image is trained on, 2 unless said",
         [](Options& options, const Flag& flag, Text text) {
           options.epochs = whole_number(flag, text);
         }},
    Flag{"--steps", "N", "steps to train, instead of --epochs",
         [](Options& options, const Flag& flag, Text text) {
           options.steps = whole_number(flag, text);
         }},
    Flag{"--data", "DIR", "where the IDX files of Fashion-MNIST are",
         [](Options& options, const Flag&, Text text) { options.data = text; }},
    Flag{"--out", "DIR", "where the pictures go, fashion_mnist_run unless said",
         [](Options& options, const Flag&, Text text) { options.out = text; }},
    Flag{"--help", "", "print this",
         [](Options& options, const Flag&, Text) { options.help = true; }},
};

const Flag& find(Text name) {
  const auto* const found = std::ranges::find(flags, name, &Flag::name);
  if (found != flags.end()) return *found;
  throw UsageError("there is no flag '" + std::string{name} + "'; see fashion_mnist --help");
}

void check_combination(const std::set<Text>& given) {
  for (const auto& [one, other] : {std::pair{"--ranks", "--processes"}, {"--epochs", "--steps"}}) {
    if (given.contains(one) && given.contains(other)) {
      throw UsageError(std::string{one} + " and " + other + " exclude each other");
    }
  }
}

}  // namespace

Options parse(std::span<const char* const> arguments) {
  Options options;
  std::set<Text> given;
  for (std::size_t index = 0; index < arguments.size(); ++index) {
    const Text argument = arguments[index];
    const auto equals = argument.find('=');
    const Flag& flag = find(argument.substr(0, equals));
    if (!given.insert(flag.name).second) {
      throw UsageError(std::string{flag.name} + " is given twice");
    }
    Text value;
    if (flag.value.empty()) {
      if (equals != Text::npos) throw UsageError(std::string{flag.name} + " takes no value");
    } else if (equals != Text::npos) {
      value = argument.substr(equals + 1);
    } else if (++index < arguments.size()) {
      value = arguments[index];
    }
    if (!flag.value.empty() && value.empty()) {
      throw UsageError(std::string{flag.name} + " lacks its value " + std::string{flag.value});
    }
    flag.apply(options, flag, value);
    if (flag.name != "--processes") {
      options.of_each_process.push_back(std::string{flag.name} + "=" + std::string{value});
    }
    if (options.help) return options;
  }
  check_combination(given);
  return options;
}

std::string help() {
  std::string text =
      "fashion_mnist: trains a classifier on Fashion-MNIST through a pipeline\n\n"
      "  fashion_mnist [flags]                      ranks are threads\n"
      "  fashion_mnist --processes P [flags]        ranks are processes of this machine\n"
      "  torchrun --no-python --nproc-per-node P fashion_mnist [flags]\n"
      "                                             likewise with mpirun and srun\n\n";
  for (const auto& flag : flags) {
    std::string line = "  " + std::string{flag.name} + ' ' + std::string{flag.value};
    line.resize(std::max<std::size_t>(line.size() + 2, 26), ' ');
    text += line + std::string{flag.help} + '\n';
  }
  return text +
         "\nThe last lines are `accuracy: A`, of the test images; `equal to unsplit: yes` or `no`, "
         "whether loss\nand gradients of the first step are those of the model on one device, to "
         "the bit; and `pictures:`\nwith the planned and the measured timeline (SVG) and a Chrome "
         "trace with both. The exit status is 0,\nor 1 if they are not equal or the training "
         "failed, or 2 if the command line asks for what cannot be.\n";
}

}  // namespace fashion_mnist
